package workqueue

import (
	"context"
	"iter"
)

// Work yields the keys that Get returns, one after the other, until Get returns none.
// Done is called for a key when the loop's body is over, by whichever way it is left:
// the next turn, break, return or panic. Several goroutines may range over Work of one
// queue: each is a worker.
func (q *Queue[K]) Work(ctx context.Context) iter.Seq[K] {
	return func(yield func(K) bool) {
		for {
			k, ok := q.Get(ctx)
			if !ok || !q.turn(k, yield) {
				return
			}
		}
	}
}

func (q *Queue[K]) turn(k K, yield func(K) bool) bool {
	defer q.Done(k)
	return yield(k)
}
