package workqueue

import (
	"context"
	"iter"
)

// Work yields the keys that Get returns, one after the other, until Get returns none. Done
// is called for a key at the end of the loop's body, however it is left: next iteration,
// break, return or panic. Several goroutines may range over Work of one queue: each is a
// worker. It takes the lock once per key where Get and Done take it twice, and does not
// look the key up.
func (q *Queue[K]) Work(ctx context.Context) iter.Seq[K] {
	return func(yield func(K) bool) {
		var h held[K]
		defer func() { q.finish(h) }()
		if ctx.Done() != nil {
			defer context.AfterFunc(ctx, q.wake)()
		}
		for {
			if h = q.turn(ctx, h); h.i == 0 || !yield(h.key) {
				return
			}
		}
	}
}

// held is a key that a worker holds, with its index and the number of the Get. The zero
// value is no key.
type held[K comparable] struct {
	key K
	i   int32
	at  state
}

// turn ends the work on h and takes the next key.
func (q *Queue[K]) turn(ctx context.Context, h held[K]) held[K] {
	q.lock()
	defer q.unlock()
	q.leave(h)
	if ctx.Err() != nil {
		return held[K]{}
	}
	i := q.take(ctx, true)
	if i == 0 {
		return held[K]{}
	}
	return held[K]{q.mu.keys.at(i).key, i, q.mu.turns}
}

func (q *Queue[K]) finish(h held[K]) {
	q.lock()
	defer q.unlock()
	q.leave(h)
}

// leave ends the work on h unless the body has called Done itself.
func (q *Queue[K]) leave(h held[K]) {
	if h.i != 0 && q.mu.keys.holds(h.i) {
		if x := q.mu.keys.at(h.i); x.state&working != 0 && x.state&^flags == h.at {
			q.done(h.i)
		}
	}
}
