package workqueue

import "time"

// AddAfter makes k ready at priority 0 once d has passed, or at once if d is not
// positive. If k is waiting already, the earlier of the two times counts. An Add in
// between does not cancel the wait.
func (q *Queue[K]) AddAfter(k K, d time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.mu.closed {
		q.addAfter(k, 0, d)
	}
}

// addAfter makes k ready at priority p once d has passed; the queue is open and q.mu held.
func (q *Queue[K]) addAfter(k K, p int, d time.Duration) {
	if d <= 0 {
		q.add(k, p)
		return
	}
	if q.mu.delays.set(k, p, time.Now().Add(d)) == 0 {
		q.arm()
	}
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
		x := q.mu.delays.pop()
		q.add(x.key, x.priority)
	}
}

// delays is a min-heap by time that knows where each key stands.
type delays[K comparable] struct {
	heap []delay[K]
	at   map[K]int // key -> index in heap
}

type delay[K comparable] struct {
	key      K
	priority int
	at       time.Time
}

// set puts k at t, or leaves it where it is if that is earlier, raises it to p, and
// returns the index where k stands now if it moved.
func (d *delays[K]) set(k K, p int, t time.Time) int {
	if d.at == nil {
		d.at = map[K]int{}
	}
	i, ok := d.at[k]
	if !ok {
		i = len(d.heap)
		d.heap = append(d.heap, delay[K]{k, p, t})
		return d.up(i)
	}
	x := &d.heap[i]
	x.priority = max(x.priority, p)
	if !t.Before(x.at) {
		return -1
	}
	x.at = t
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

func (d *delays[K]) pop() delay[K] {
	first := d.heap[0]
	delete(d.at, first.key)
	n := len(d.heap) - 1
	x := d.heap[n]
	d.heap[n] = delay[K]{}
	d.heap = d.heap[:n]
	if n > 0 {
		d.down(x)
	}
	return first
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
	*d = delays[K]{}
}
