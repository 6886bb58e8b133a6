package workqueue

import (
	"context"
	"fmt"
)

// Close begins the drain: later adds are dropped and so are delayed keys; keys ready
// by now, and those added again while being worked on, are still handed out; then Get
// returns false. Closing twice is allowed.
func (q *Queue[K]) Close() {
	q.lock()
	defer q.unlock()
	if q.mu.closed {
		return
	}
	q.mu.closed = true
	if q.mu.timer != nil {
		q.mu.timer.Stop()
	}
	for q.mu.delays.first() != never {
		q.release(q.mu.delays.pop())
	}
	q.wakeOne()
	q.wakeDrain()
}

// Drain closes the queue and waits until the workers have taken every remaining key and
// finished them all. If ctx ends first, the error has the number of remaining keys and
// wraps ctx's error; the drain goes on.
func (q *Queue[K]) Drain(ctx context.Context) error {
	q.Close()
	select {
	case <-q.idle:
		return nil
	case <-ctx.Done():
	}
	q.lock()
	defer q.unlock()
	if q.mu.order.n+int(q.mu.working) == 0 {
		return nil
	}
	return fmt.Errorf("workqueue %s: %d keys wait and %d are being worked on: %w", q.o.Name, q.mu.order.n, q.mu.working, ctx.Err())
}

// wakeDrain wakes the callers of Drain if no key is left; q.mu is held.
func (q *Queue[K]) wakeDrain() {
	if !q.mu.closed || q.mu.order.n+int(q.mu.working) > 0 {
		return
	}
	select {
	case <-q.idle:
	default:
		close(q.idle)
	}
}
