package workqueue

import (
	"context"
	"iter"
)

// Work yields the keys that Get returns, one after the other, until Get returns none.
// Done is called for a key when the loop's body is over, by whichever way it is left:
// the next turn, break, return or panic. Several goroutines may range over Work of one
// queue: each is a worker. It takes the lock once per key where Get and Done take it
// twice, and does not look the key up.
func (q *Queue[K]) Work(ctx context.Context) iter.Seq[K] {
	return func(yield func(K) bool) {
		var k K
		var at int32 // where k stands; 0 without a key
		defer func() { q.finish(k, at) }()
		for {
			if k, at = q.turn(ctx, k, at); at == 0 || !yield(k) {
				return
			}
		}
	}
}

// turn ends the work on k, which stands at i, and takes the next key.
func (q *Queue[K]) turn(ctx context.Context, k K, i int32) (next K, at int32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.leave(k, i)
	if ctx.Err() != nil {
		return next, 0
	}
	if at = q.take(ctx); at != 0 {
		next = q.mu.keys.item(at).key
	}
	return next, at
}

func (q *Queue[K]) finish(k K, i int32) {
	q.mu.Lock()
	q.leave(k, i)
	q.mu.Unlock()
}

// leave ends the work on k if it still stands at i: the body may have called Done itself.
func (q *Queue[K]) leave(k K, i int32) {
	if i == 0 || i >= q.mu.keys.used {
		return
	}
	if x := q.mu.keys.item(i); x.working && x.key == k {
		q.done(i)
	}
}
