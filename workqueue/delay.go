package workqueue

import (
	"math"
	"slices"
	"time"
)

// AddAfter makes k ready at priority 0 once d has passed, or at once if d is not
// positive. If k is waiting already, the earlier of the two times counts. An Add in
// between does not cancel the wait.
func (q *Queue[K]) AddAfter(k K, d time.Duration) {
	h := hash(k)
	q.lock()
	defer q.unlock()
	if !q.mu.closed {
		q.addAfter(q.mu.keys.put(k, h), 0, d)
	}
}

// addAfter makes the key at i ready at priority p once d has passed; the queue is open and
// q.mu held.
func (q *Queue[K]) addAfter(i int32, p int32, d time.Duration) {
	if d <= 0 {
		q.add(i, p)
		return
	}
	now := time.Since(q.begun)
	if q.mu.delays.set(i, p, now+d) {
		q.setTimer(d)
	}
	q.moveDue(now, few)
}

// few limits the keys that one newly delayed key makes ready, if they are due. It is above
// one, so that due keys do not accumulate.
const few = 4

// handful limits the keys that a Get makes ready if it finds none ready.
const handful = 64

// moveDue makes ready up to most of the keys that are due by now; q.mu is held and the queue
// open. The timer does so too, but is late by as much as a millisecond, and then has many
// keys to move at once. So every goroutine that has the lock anyway helps.
func (q *Queue[K]) moveDue(now time.Duration, most int) {
	for ; most > 0 && q.mu.delays.first() <= now; most-- {
		i := q.mu.delays.pop()
		q.add(i, q.mu.keys.at(i).later)
	}
}

// setTimer sets the timer; q.mu is held.
func (q *Queue[K]) setTimer(d time.Duration) {
	if q.mu.timer == nil {
		q.mu.timer = time.AfterFunc(d, q.onTimer)
		return
	}
	q.mu.timer.Reset(d)
}

// rest is the timer's minimum interval, so that thousands of keys a millisecond do not fire
// it thousands of times.
const rest = 50 * time.Microsecond

// onTimer makes ready all keys that are due.
func (q *Queue[K]) onTimer() {
	q.lock()
	defer q.unlock()
	if q.mu.closed {
		return
	}
	now := time.Since(q.begun)
	q.moveDue(now, q.mu.delays.n)
	if q.mu.delays.n > 0 {
		q.setTimer(max(q.mu.delays.first()-now, rest))
	}
}

// delays are the delayed keys, by time. Most keys have the same delay as those before them,
// and so come in the order of their times: they are in a line, where adding and taking is
// cheap. All others are in a heap. If a key moves to an earlier time, its old place stays
// behind and is skipped when it is due. So a key need not know its place, and the heap
// moves places without reading the keys.
type delays[K comparable] struct {
	line []delay // by rising time; those before from have gone
	from int
	heap []delay // a min-heap, each place with wide children
	n    int     // how many keys wait
	left int     // how many places no key stands at
	keys *table[K]
}

type delay struct {
	at time.Duration // of the queue's life, never 0
	i  int32         // of the key's item
}

// wide is how many children a place in the heap has: with four the way down is half as
// long as with two, and they stand in one line of the cache.
const wide = 4

const never = time.Duration(math.MaxInt64)

// set delays the key at i until t, or leaves it where it is if that is earlier, raises it
// to p, and reports whether it is now the first.
func (d *delays[K]) set(i, p int32, t time.Duration) bool {
	first := d.first()
	x := d.keys.at(i)
	switch {
	case x.state&waits == 0:
		x.state |= waits
		x.later = p
		d.n++
	case t < x.due:
		x.later = max(x.later, p)
		d.left++
	default:
		x.later = max(x.later, p)
		return false
	}
	x.due = t
	d.push(delay{t, i})
	if d.left > keep && d.left > d.n {
		d.dropStale()
	}
	return t < first
}

func (d *delays[K]) push(x delay) {
	if n := len(d.line); n == d.from || d.line[n-1].at <= x.at {
		if d.from > n/2 && n == cap(d.line) {
			d.line, d.from = d.line[:copy(d.line, d.line[d.from:])], 0
		}
		d.line = append(d.line, x)
		return
	}
	d.heap = append(d.heap, x)
	d.siftUp(len(d.heap) - 1)
}

// first returns when the first key becomes ready; never if no key is delayed.
func (d *delays[K]) first() time.Duration {
	if d.n == 0 {
		return never
	}
	for d.from < len(d.line) && d.isStale(d.line[d.from]) {
		d.from++
		d.left--
	}
	for len(d.heap) > 0 && d.isStale(d.heap[0]) {
		d.siftDown()
		d.left--
	}
	at := never
	if d.from < len(d.line) {
		at = d.line[d.from].at
	}
	if len(d.heap) > 0 {
		at = min(at, d.heap[0].at)
	}
	return at
}

// isStale reports whether a key has left its place. The entry may belong to another key
// since: if that one is due at the same time, the place is valid for it.
func (d *delays[K]) isStale(x delay) bool {
	if !d.keys.has(x.i) {
		return true
	}
	o := d.keys.at(x.i)
	return o.due != x.at || o.state&waits == 0
}

// pop removes and returns the first key.
func (d *delays[K]) pop() int32 {
	var i int32
	if len(d.heap) == 0 || d.from < len(d.line) && d.line[d.from].at <= d.heap[0].at {
		i = d.line[d.from].i
		d.from++
	} else {
		i = d.heap[0].i
		d.siftDown()
	}
	d.keys.at(i).state &^= waits
	if d.n--; d.n == 0 { // and the places that are left lead nowhere
		d.clear()
	}
	return i
}

// clear forgets all places, and the memory of a large burst.
func (d *delays[K]) clear() {
	d.line, d.from, d.heap, d.left = d.line[:0], 0, d.heap[:0], 0
	if cap(d.line) > keep {
		d.line = nil
	}
	if cap(d.heap) > keep {
		d.heap = nil
	}
}

// dropStale lets go of the places that keys have left.
func (d *delays[K]) dropStale() {
	heap := d.heap
	d.line = slices.DeleteFunc(d.line[d.from:], d.isStale)
	d.from, d.heap, d.left = 0, nil, 0
	for _, x := range heap {
		if !d.isStale(x) {
			d.heap = append(d.heap, x)
			d.siftUp(len(d.heap) - 1)
		}
	}
}

// siftUp moves the place at the index to where it belongs.
func (d *delays[K]) siftUp(at int) {
	x := d.heap[at]
	for at > 0 {
		p := (at - 1) / wide
		if x.at >= d.heap[p].at {
			break
		}
		d.heap[at] = d.heap[p]
		at = p
	}
	d.heap[at] = x
}

// siftDown takes the root away and puts the last place where it belongs.
func (d *delays[K]) siftDown() {
	n := len(d.heap) - 1
	x := d.heap[n]
	d.heap = d.heap[:n]
	at := 0
	for c := 1; c < n; c = wide*at + 1 {
		least := c
		for o := c + 1; o < min(c+wide, n); o++ {
			if d.heap[o].at < d.heap[least].at {
				least = o
			}
		}
		if d.heap[least].at >= x.at {
			break
		}
		d.heap[at] = d.heap[least]
		at = least
	}
	if n > 0 {
		d.heap[at] = x
	}
}
