package etcd

import (
	"context"
	"fmt"
	"sync"
	"time"

	"fairlead.dev/storage"
)

// rounds let concurrent readers of the current revision share one request. An answer is valid only
// for readers that asked before the request was sent: so at most one request is in progress, and
// later readers wait for the next one.
//
// Readers that ask again and again come back soon after the answer, one by one. So a round is sent
// when as many readers have joined it as the last one had, or gatherFor after the last answer. A
// reader on its own does not wait.
type rounds struct {
	mu struct {
		sync.Mutex
		running bool
		next    *round
		// last is the number of readers of the last round, which was answered at.
		last int
		at   time.Time
	}
}

// gatherFor bounds how long a round waits for readers.
const gatherFor = 2 * time.Millisecond

type round struct {
	readers int // until it is sent; rounds.mu is held
	full    chan struct{}
	done    chan struct{}
	rev     storage.Revision
	err     error
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

// join returns the round that has not been sent; nil if the store is closed.
func (s *Store) join() *round {
	mu := &s.rounds.mu
	mu.Lock()
	defer mu.Unlock()
	if mu.next == nil {
		mu.next = &round{full: make(chan struct{}), done: make(chan struct{})}
	}
	if mu.next.readers++; mu.next.readers == mu.last {
		close(mu.next.full)
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
	for r := s.nextRound(); r != nil; r = s.nextRound() {
		page, err := s.page(s.ctx, span{start: s.keys.probeKey()}, 0, 0, true)
		if err == nil {
			r.rev = storage.Revision(page.Header.Revision)
		}
		r.err = err
		s.rounds.mu.Lock()
		s.rounds.mu.at = time.Now()
		s.rounds.mu.Unlock()
		close(r.done)
	}
}

// nextRound returns the round to send, which no reader can join any more; nil if no reader waits.
func (s *Store) nextRound() *round {
	mu := &s.rounds.mu
	mu.Lock()
	defer mu.Unlock()
	if mu.next == nil {
		mu.running = false
		return nil
	}
	if wait := gatherFor - time.Since(mu.at); wait > 0 && mu.next.readers < mu.last {
		full := mu.next.full
		mu.Unlock()
		select {
		case <-full:
		case <-time.After(wait):
		case <-s.ctx.Done():
		}
		mu.Lock()
	}
	r := mu.next
	mu.next, mu.last = nil, r.readers
	return r
}

// checkReadable asks the cluster whether a revision can be read. It returns ErrCompacted or ErrFutureRevision if it cannot.
func (s *Store) checkReadable(ctx context.Context, r storage.Revision) error {
	_, err := s.page(ctx, span{start: s.keys.probeKey()}, r, 0, true)
	return err
}
