package local

import (
	"context"
	"fmt"
	"sync"

	"fairlead.dev/storage"
	"fairlead.dev/trace"
)

// A call is a waiting Commit or, with an order, another operation that is queued among the commits.
type call struct {
	txn   storage.Txn
	res   storage.TxnResult
	order func(g *group) error
	err   error
	done  chan struct{}
}

// Commit implements storage.Store.
func (s *Store) Commit(ctx context.Context, t storage.Txn) (storage.TxnResult, error) {
	if err := check(t); err != nil {
		return storage.TxnResult{}, err
	}
	c := &call{txn: t, done: make(chan struct{})}
	if err := s.do(ctx, c); err != nil {
		return storage.TxnResult{}, err
	}
	return c.res, nil
}

// do queues a call and waits for it. If do returns early, with an error, the call belongs to the
// committer.
func (s *Store) do(ctx context.Context, c *call) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", storage.ErrNotWritten, err)
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("%w: %w", storage.ErrNotWritten, err)
	}
	if !s.queue.put(c) {
		return fmt.Errorf("%w: %w", storage.ErrNotWritten, storage.ErrClosed)
	}
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, ctx.Err())
	case <-s.down:
	}
	select {
	case <-c.done:
		return c.err
	default:
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, s.Err())
	}
}

// stamp records in the trace that the group has passed a hop.
func (s *Store) stamp(h trace.Hop, g *group) {
	if l := s.opts.Trace; l != nil && len(g.versions) > 0 {
		l.Stamp(h, int64(g.versions[0].kv().ModRevision), int64(g.rev), l.Now())
	}
}

// publish shows a written group to readers, rings the bells, and wakes the callers.
func (s *Store) publish(g *group) {
	if len(g.versions) > 0 {
		// Stamped before the versions can be seen, so that no later hop is earlier.
		s.stamp(trace.Published, g)
		s.pub.Lock()
		st := *s.state.Load()
		rung := s.pub.bells.mark(st.log.end, g.versions, s.pub.rung[:0])
		st.rev = g.rev
		st.live.keys += g.live.keys
		st.live.bytes += g.live.bytes
		st.log = st.log.append(g.versions)
		s.packer.published(st.log.end-int64(len(g.versions)), st.log.end)
		if g.tree != nil {
			st.tree = g.tree
		}
		s.state.Store(&st)
		for i, t := range rung {
			t.ring()
			rung[i] = nil
		}
		s.pub.bells.ringWaiting(st.rev)
		s.pub.rung = rung
		s.pub.Unlock()
		s.groups.Add(1)
	}
	s.commits.Add(int64(len(g.calls)))
	for _, call := range g.calls {
		close(call.done)
	}
}

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
