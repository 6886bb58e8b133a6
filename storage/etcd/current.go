package etcd

import (
	"context"
	"fmt"
	"sync"

	"fairlead.dev/storage"
)

// rounds let concurrent readers of the current revision share one request. An answer is valid only
// for readers that asked before the request was sent: so at most one request is in progress, and
// later readers wait for the next one.
type rounds struct {
	mu struct {
		sync.Mutex
		running bool
		next    *round
	}
}

type round struct {
	done chan struct{}
	rev  storage.Revision
	err  error
}

// Current implements storage.Store by an empty read that a majority of the members confirms.
func (s *Store) Current(ctx context.Context) (storage.Revision, error) {
	if s.isClosed() {
		return 0, storage.ErrClosed
	}
	r := s.join()
	if r == nil {
		return 0, storage.ErrClosed
	}
	select {
	case <-r.done:
		return r.rev, r.err
	case <-ctx.Done():
		return 0, fmt.Errorf("%w: %w", storage.ErrUnavailable, ctx.Err())
	}
}

// join returns the round that has not begun; nil if the store is closed.
func (s *Store) join() *round {
	mu := &s.rounds.mu
	mu.Lock()
	defer mu.Unlock()
	if mu.next == nil {
		mu.next = &round{done: make(chan struct{})}
	}
	if !mu.running {
		if mu.running = s.start(s.runRounds); !mu.running {
			return nil
		}
	}
	return mu.next
}

// runRounds runs one round after the other until no reader waits.
func (s *Store) runRounds() {
	mu := &s.rounds.mu
	for {
		mu.Lock()
		r := mu.next
		mu.next = nil
		if r == nil {
			mu.running = false
			mu.Unlock()
			return
		}
		mu.Unlock()
		page, err := s.page(s.ctx, span{start: s.keys.probeKey()}, 0, 0, true)
		if err == nil {
			r.rev = storage.Revision(page.Header.Revision)
		}
		r.err = err
		close(r.done)
	}
}

// checkReadable asks the cluster whether a revision can be read. It returns ErrCompacted or ErrFutureRevision if it cannot.
func (s *Store) checkReadable(ctx context.Context, r storage.Revision) error {
	_, err := s.page(ctx, span{start: s.keys.probeKey()}, r, 0, true)
	return err
}
