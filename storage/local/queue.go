package local

import "sync"

// A queue holds the calls that no group has taken yet.
type queue struct {
	bell chan struct{}
	mu   struct {
		sync.Mutex
		calls  []*call
		closed bool
	}
}

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
