package workqueue

// deque is a first-in first-out ring that grows by doubling and lets its memory go
// when a large burst has drained.
type deque[K any] struct {
	buf  []K // length is a power of two
	head int
	n    int
}

const keep = 1024 // slots an empty ring may hold on to

func (d *deque[K]) push(k K) {
	if d.n == len(d.buf) {
		grown := make([]K, max(16, 2*len(d.buf)))
		c := copy(grown, d.buf[d.head:])
		copy(grown[c:], d.buf[:d.head])
		d.buf, d.head = grown, 0
	}
	d.buf[(d.head+d.n)&(len(d.buf)-1)] = k
	d.n++
}

func (d *deque[K]) pop() K {
	var zero K
	k := d.buf[d.head]
	d.buf[d.head] = zero
	d.head = (d.head + 1) & (len(d.buf) - 1)
	d.n--
	if d.n == 0 && len(d.buf) > keep {
		d.buf, d.head = nil, 0
	}
	return k
}
