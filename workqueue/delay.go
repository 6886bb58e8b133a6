package workqueue

import "time"

// AddAfter makes k ready at priority 0 once d has passed, or at once if d is not
// positive. If k is waiting already, the earlier of the two times counts. An Add in
// between does not cancel the wait.
func (q *Queue[K]) AddAfter(k K, d time.Duration) {
	h := hash(k)
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.mu.closed {
		q.addAfter(k, h, 0, d)
	}
}

// addAfter makes k ready at priority p once d has passed; the queue is open and q.mu held.
func (q *Queue[K]) addAfter(k K, h uint32, p int, d time.Duration) {
	if d <= 0 {
		q.add(k, h, p)
		return
	}
	now := time.Since(q.begun)
	q.ripen(now, few)
	if q.mu.delays.set(k, h, p, now+d) == 0 {
		q.arm(d)
	}
}

// few is how many keys one that begins to wait makes ready at most, if their time has
// come: more than come, so that none are left behind.
const few = 4

// handful is how many keys a Get makes ready at most that finds none ready.
const handful = 64

// ripen makes ready up to most of the keys that have waited long enough by now; q.mu is
// held and the queue open. The timer sees to it too, but is late by as much as a
// millisecond, and then has all at once to do. So whoever has the lock anyway helps.
func (q *Queue[K]) ripen(now time.Duration, most int) {
	for ; most > 0 && len(q.mu.delays.heap) > 0 && q.mu.delays.heap[0].at <= now; most-- {
		q.add(q.mu.delays.pop())
	}
}

// arm sets the timer; q.mu is held.
func (q *Queue[K]) arm(d time.Duration) {
	if q.mu.timer == nil {
		q.mu.timer = time.AfterFunc(d, q.due)
		return
	}
	q.mu.timer.Reset(d)
}

// rest is what the timer waits at least before it fires again, so that thousands of keys
// a millisecond do not fire it thousands of times.
const rest = 50 * time.Microsecond

// due makes ready what has waited long enough.
func (q *Queue[K]) due() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.mu.closed {
		return
	}
	now := time.Since(q.begun)
	q.ripen(now, len(q.mu.delays.heap))
	if len(q.mu.delays.heap) > 0 {
		q.arm(max(q.mu.delays.heap[0].at-now, rest))
	}
}

// delays is a min-heap by time. The keys stand in items that know their place in it, and
// do not move with it.
type delays[K comparable] struct {
	heap []delay
	keys keys[K] // before is the index in heap
}

type delay struct {
	at time.Duration // of the queue's life
	i  int32         // of the key's item
}

// wide is how many children a place in the heap has: with four the way down is half as
// long as with two, and they stand in one line of the cache.
const wide = 4

// set puts k at t, or leaves it where it is if that is earlier, raises it to p, and
// returns the index where k stands now if it moved.
func (d *delays[K]) set(k K, h uint32, p int, t time.Duration) int {
	n := d.keys.n
	i := d.keys.put(k, h)
	x := d.keys.item(i)
	if d.keys.n > n {
		x.priority = p
		d.heap = append(d.heap, delay{})
		return d.up(len(d.heap)-1, delay{t, i})
	}
	x.priority = max(x.priority, p)
	at := int(x.before)
	if t >= d.heap[at].at {
		return -1
	}
	return d.up(at, delay{t, i})
}

// up places x, starting from the empty place at.
func (d *delays[K]) up(at int, x delay) int {
	for at > 0 {
		p := (at - 1) / wide
		if x.at >= d.heap[p].at {
			break
		}
		d.place(at, d.heap[p])
		at = p
	}
	d.place(at, x)
	return at
}

func (d *delays[K]) place(at int, x delay) {
	d.heap[at] = x
	d.keys.item(x.i).before = int32(at)
}

// pop takes the head.
func (d *delays[K]) pop() (k K, h uint32, priority int) {
	first := d.heap[0].i
	x := d.keys.item(first)
	k, h, priority = x.key, x.hash, x.priority
	d.keys.drop(first)
	n := len(d.heap) - 1
	last := d.heap[n]
	d.heap = d.heap[:n]
	switch {
	case n > 0:
		d.down(last)
	case cap(d.heap) > keep:
		d.heap = nil
	}
	return k, h, priority
}

// down places x, starting from the empty root.
func (d *delays[K]) down(x delay) {
	at, n := 0, len(d.heap)
	for {
		c := wide*at + 1
		if c >= n {
			break
		}
		least := c
		for o := c + 1; o < min(c+wide, n); o++ {
			if d.heap[o].at < d.heap[least].at {
				least = o
			}
		}
		if d.heap[least].at >= x.at {
			break
		}
		d.place(at, d.heap[least])
		at = least
	}
	d.place(at, x)
}

func (d *delays[K]) clear() {
	*d = delays[K]{}
}
