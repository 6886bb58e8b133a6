package workqueue

import "time"

// Retry adds k after a delay that grows with the failures of k: BaseDelay, then twice
// that, and so on up to MaxDelay; or later, if more keys than Options.RetryRate come
// back. It keeps the priority with which k was handed out last, if it is being worked
// on. Call Forget when k succeeds.
func (q *Queue[K]) Retry(k K) {
	h := hash(k)
	q.mu.Lock()
	defer q.mu.Unlock()
	x := q.mu.failures.item(q.mu.failures.put(k, h))
	n := x.next
	x.next++
	q.mu.counts.retries++
	if q.mu.closed {
		return
	}
	p := 0
	if i := q.mu.keys.find(k, h); i != 0 && q.mu.keys.item(i).working {
		p = q.mu.keys.item(i).priority
	}
	d := backoff(q.o.BaseDelay, q.o.MaxDelay, n)
	if q.mu.retries.rate > 0 {
		d = max(d, q.mu.retries.take(time.Now()))
	}
	q.addAfter(k, h, p, d)
}

func backoff(base, most time.Duration, n int) time.Duration {
	for ; n > 0 && base < most; n-- {
		base *= 2
	}
	return min(base, most)
}

// Forget ends the count of failures of k. It does not take k out of the queue.
func (q *Queue[K]) Forget(k K) {
	h := hash(k)
	q.mu.Lock()
	if i := q.mu.failures.find(k, h); i != 0 {
		q.mu.failures.drop(i)
	}
	q.mu.Unlock()
}

// Failures returns how often Retry was called for k since the last Forget.
func (q *Queue[K]) Failures(k K) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := q.mu.failures.find(k, hash(k)); i != 0 {
		return q.mu.failures.item(i).next
	}
	return 0
}

// bucket is a token bucket that tells when the next token is there instead of making
// anybody wait. It is kept as the time at which it will be empty of debts: each token
// taken moves that time on by 1/rate, and it never lies further back than a full bucket.
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
