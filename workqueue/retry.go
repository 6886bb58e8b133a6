package workqueue

import "time"

// Retry adds k after a delay that grows with the failures of k: BaseDelay, then twice
// that, and so on up to MaxDelay; or later, if more keys than Options.RetryRate come
// back. It keeps the priority with which k was handed out last, if it is being worked
// on. Call Forget when k succeeds.
func (q *Queue[K]) Retry(k K) {
	h := hash(k)
	q.lock()
	defer q.unlock()
	i := q.mu.keys.put(k, h)
	x := q.mu.keys.at(i)
	n := x.failures
	if n == 0 {
		q.failing.Add(1)
	}
	x.failures++
	q.mu.counts.retries++
	if q.mu.closed {
		return
	}
	p := int32(0)
	if x.state&working != 0 {
		p = x.priority
	}
	d := backoff(q.o.BaseDelay, q.o.MaxDelay, n)
	if q.mu.retries.rate > 0 {
		d = max(d, q.mu.retries.take(time.Now()))
	}
	q.addAfter(i, p, d)
}

func backoff(base, most time.Duration, n uint32) time.Duration {
	for ; n > 0 && base < most; n-- {
		base *= 2
	}
	return min(base, most)
}

// Forget resets k's failures. It does not take k out of the queue. As long as no key has
// failed it costs no time.
func (q *Queue[K]) Forget(k K) {
	if q.failing.Load() == 0 {
		return
	}
	h := hash(k)
	q.lock()
	defer q.unlock()
	i := q.mu.keys.find(k, h)
	if i == 0 {
		return
	}
	if x := q.mu.keys.at(i); x.failures > 0 {
		x.failures = 0
		q.failing.Add(-1)
		q.release(i)
	}
}

// Failures returns how often Retry was called for k since the last Forget.
func (q *Queue[K]) Failures(k K) int {
	if q.failing.Load() == 0 {
		return 0
	}
	h := hash(k)
	q.lock()
	defer q.unlock()
	if i := q.mu.keys.find(k, h); i != 0 {
		return int(q.mu.keys.at(i).failures)
	}
	return 0
}

// bucket is a token bucket that returns the time of the next token instead of blocking. Its
// state is the time at which all taken tokens will have been refilled: each token taken
// moves that time on by 1/rate, and it never lies further back than a full bucket.
type bucket struct {
	rate  float64 // tokens per second; 0 means no limit
	burst int
	free  time.Time // when the token after all those taken is there
}

// take takes a token and returns how long from now until it is there.
func (b *bucket) take(now time.Time) time.Duration {
	each := time.Duration(float64(time.Second) / b.rate)
	if full := now.Add(-each * time.Duration(b.burst-1)); b.free.Before(full) {
		b.free = full
	}
	wait := b.free.Sub(now)
	b.free = b.free.Add(each)
	return max(0, wait)
}
