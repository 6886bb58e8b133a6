package local

import (
	"context"
	"fmt"
	"sync"

	"fairlead.dev/storage"
)

// A queue holds the calls that no group has taken yet.
type queue struct {
	failure *failure
	bell    chan struct{}
	mu      struct {
		sync.Mutex
		calls  []*call
		closed bool
	}
}

// do queues a call and waits for it. If do returns early, with an error, the call belongs to the
// committer.
func (q *queue) do(ctx context.Context, c *call) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", storage.ErrNotWritten, err)
	}
	if err := q.failure.err(); err != nil {
		return fmt.Errorf("%w: %w", storage.ErrNotWritten, err)
	}
	if !q.put(c) {
		return fmt.Errorf("%w: %w", storage.ErrNotWritten, storage.ErrClosed)
	}
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, ctx.Err())
	case <-q.failure.down:
	}
	select {
	case <-c.done:
		return c.err
	default:
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, q.failure.err())
	}
}

// put queues a call, unless the queue is closed.
func (q *queue) put(c *call) bool {
	q.mu.Lock()
	if q.mu.closed {
		q.mu.Unlock()
		return false
	}
	q.mu.calls = append(q.mu.calls, c)
	first := len(q.mu.calls) == 1
	q.mu.Unlock()
	if first {
		q.ring()
	}
	return true
}

func (q *queue) ring() {
	select {
	case q.bell <- struct{}{}:
	default:
	}
}

func (q *queue) close() {
	q.mu.Lock()
	q.mu.closed = true
	q.mu.Unlock()
	q.ring()
}

// take returns all calls, and keeps spare as the buffer for the next ones.
func (q *queue) take(spare []*call) (calls []*call, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	calls, q.mu.calls = q.mu.calls, spare
	return calls, q.mu.closed
}
