package workqueue

import (
	"context"
	"iter"
)

// Work yields the keys that Get returns, one after the other, until Get returns none. Done
// hasKey called for a key at the end of the loop's body, however it is left: next iteration,
// break, return or panic. Several goroutines may range over Work of one queue: each is a
// worker. It takes the lock once per key where Get and Done take it twice, and does not
// look the key up.
func (q *Queue[K]) Work(ctx context.Context) iter.Seq[K] {
	return func(yield func(K) bool) {
		var h heldKey[K]
		defer func() { q.finish(h) }()
		if ctx.Done() != nil {
			defer context.AfterFunc(ctx, q.wakeAll)()
		}
		for {
			if h = q.next(ctx, h); h.i == 0 || !yield(h.key) {
				return
			}
		}
	}
}

// heldKey is a key that a worker holds, with its index and the number of the Get. The zero
// value is no key.
type heldKey[K comparable] struct {
	key K
	i   int32
	at  state
}

// next ends the work on h and takes the next key.
func (q *Queue[K]) next(ctx context.Context, h heldKey[K]) heldKey[K] {
	q.lock()
	defer q.unlock()
	q.endWork(h)
	if ctx.Err() != nil {
		return heldKey[K]{}
	}
	i := q.take(ctx, true)
	if i == 0 {
		return heldKey[K]{}
	}
	return heldKey[K]{q.mu.keys.at(i).key, i, q.mu.turns}
}

func (q *Queue[K]) finish(h heldKey[K]) {
	q.lock()
	defer q.unlock()
	q.endWork(h)
}

// endWork ends the work on h unless the body has called Done itself.
func (q *Queue[K]) endWork(h heldKey[K]) {
	if h.i != 0 && q.mu.keys.has(h.i) {
		if x := q.mu.keys.at(h.i); x.state&working != 0 && x.state&^flags == h.at {
			q.done(h.i)
		}
	}
}
