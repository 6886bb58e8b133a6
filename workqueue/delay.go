package workqueue

import "time"

// AddAfter makes k ready once d has passed, or at once if d is not positive. If k is
// waiting already, the earlier of the two times counts. An Add in between does not
// cancel the wait.
func (q *Queue[K]) AddAfter(k K, d time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.mu.closed {
		return
	}
	if d <= 0 {
		q.add(k)
		return
	}
	if q.mu.delays.set(k, time.Now().Add(d)) == 0 {
		q.arm()
	}
}

// Retry adds k after a delay that grows with the failures of k: BaseDelay, then twice
// that, and so on up to MaxDelay. Call Forget when k succeeds.
func (q *Queue[K]) Retry(k K) {
	q.mu.Lock()
	n := q.mu.failures[k]
	q.mu.failures[k] = n + 1
	if m := q.o.Metrics; m != nil {
		m.Retried()
	}
	q.mu.Unlock()
	q.AddAfter(k, backoff(q.o.BaseDelay, q.o.MaxDelay, n))
}

func backoff(base, most time.Duration, n int) time.Duration {
	for ; n > 0 && base < most; n-- {
		base *= 2
	}
	return min(base, most)
}

// Forget ends the count of failures of k. It does not take k out of the queue.
func (q *Queue[K]) Forget(k K) {
	q.mu.Lock()
	delete(q.mu.failures, k)
	q.mu.Unlock()
}

// Failures returns how often Retry was called for k since the last Forget.
func (q *Queue[K]) Failures(k K) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.mu.failures[k]
}

// arm sets the timer to the head of the heap; q.mu is held.
func (q *Queue[K]) arm() {
	d := time.Until(q.mu.delays.heap[0].at)
	if q.mu.timer == nil {
		q.mu.timer = time.AfterFunc(d, q.due)
		return
	}
	q.mu.timer.Reset(d)
}

// due makes ready what has waited long enough.
func (q *Queue[K]) due() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.mu.closed {
		return
	}
	now := time.Now()
	for len(q.mu.delays.heap) > 0 {
		if q.mu.delays.heap[0].at.After(now) {
			q.arm()
			return
		}
		q.add(q.mu.delays.pop())
	}
}

// delays is a min-heap by time that knows where each key stands.
type delays[K comparable] struct {
	heap []delay[K]
	at   map[K]int // key -> index in heap
}

type delay[K comparable] struct {
	key K
	at  time.Time
}

// set puts k at t, or leaves it where it is if that is earlier, and returns the index
// where k stands now.
func (d *delays[K]) set(k K, t time.Time) int {
	i, ok := d.at[k]
	switch {
	case !ok:
		i = len(d.heap)
		d.heap = append(d.heap, delay[K]{k, t})
	case !t.Before(d.heap[i].at):
		return -1
	default:
		d.heap[i].at = t
	}
	return d.up(i)
}

func (d *delays[K]) up(i int) int {
	x := d.heap[i]
	for i > 0 {
		p := (i - 1) / 2
		if !x.at.Before(d.heap[p].at) {
			break
		}
		d.heap[i] = d.heap[p]
		d.at[d.heap[i].key] = i
		i = p
	}
	d.heap[i] = x
	d.at[x.key] = i
	return i
}

func (d *delays[K]) pop() K {
	k := d.heap[0].key
	delete(d.at, k)
	n := len(d.heap) - 1
	x := d.heap[n]
	d.heap[n] = delay[K]{}
	d.heap = d.heap[:n]
	if n > 0 {
		d.down(x)
	}
	return k
}

// down places x, starting from the empty root.
func (d *delays[K]) down(x delay[K]) {
	i, n := 0, len(d.heap)
	for {
		c := 2*i + 1
		if c >= n {
			break
		}
		if c+1 < n && d.heap[c+1].at.Before(d.heap[c].at) {
			c++
		}
		if !d.heap[c].at.Before(x.at) {
			break
		}
		d.heap[i] = d.heap[c]
		d.at[d.heap[i].key] = i
		i = c
	}
	d.heap[i] = x
	d.at[x.key] = i
}

func (d *delays[K]) clear() {
	d.heap = nil
	clear(d.at)
}
