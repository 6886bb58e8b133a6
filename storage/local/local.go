package local

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"fairlead.dev/storage"

	"fairlead.dev/internal/storage/leases"
)

// A Store is a storage.Store in this process. See the package comment.
type Store struct {
	opts   Options
	engine *engine // nil if in memory only

	// state is the published state; see the type.
	state  atomic.Pointer[state]
	closed atomic.Bool

	// pub orders changes of state, and guards the cursors. It is held for moments only, never
	// during I/O.
	pub struct {
		sync.Mutex
		bells bells
		rung  []*topic // scratch
	}

	// work guards the state that commits are tried against: it is ahead of the published one by the
	// groups that are being written. Taken before pub.
	work struct {
		sync.Mutex
		tree   tree
		rev    storage.Revision
		leases leases.Table
		// grown: tree holds keys that no copy of it holds.
		grown bool
	}

	queue     queue
	committer *committer
	compactor *compactor
	lessor    *lessor
	packer    *packer

	// down is closed when the engine failed in a way that may leave calls to it hanging; failure is
	// the cause, and is set for every failure.
	down    chan struct{}
	failure atomic.Pointer[error]
	failed  chan struct{} // closed with failure
	// opened is set when Open has succeeded: an earlier failure is Open's error, and not logged.
	opened atomic.Bool
	logged sync.Once

	closing  sync.Once
	closeErr error

	commits, groups atomic.Int64
	// kept is the size of the records that are not garbage.
	kept atomic.Int64
}

// state is one consistent state of the store as of rev. Entries and chains may already show
// versions above rev; readers skip them.
type state struct {
	rev, compacted storage.Revision
	tree           *tree
	log            view
	live           size
}

// Open opens the store in dir, creating it if the directory is empty or missing. Errors: ErrInUse,
// ErrForeign, ErrCorrupt, or that of the file system.
func Open(dir string, o Options) (*Store, error) {
	s := &Store{opts: o.withDefaults(), down: make(chan struct{}), failed: make(chan struct{})}
	s.queue.bell = make(chan struct{}, 1)
	img := newImage()
	if !o.InMemory {
		var err error
		if s.engine, img, err = openEngine(dir, s.opts, s.engineFailed); err != nil {
			return nil, err
		}
	}
	s.work.tree, s.work.rev, s.work.leases = img.tree, img.rev, img.leases
	s.state.Store(&state{
		rev: img.rev, compacted: img.compacted,
		tree: s.work.tree.Copy(), log: img.log, live: img.live,
	})
	s.kept.Store(img.kept)
	s.packer = startPacker(s)
	s.committer = startCommitter(s)
	s.compactor = startCompactor(s, img)
	s.lessor = startLessor(s)
	s.opened.Store(true)
	s.logFailure()
	return s, nil
}

// Close implements storage.Store: queued commits are finished, later ones are refused.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.lessor.stop()
		s.compactor.stop()
		s.queue.close()
		s.committer.wait()
		s.packer.end()
		s.pub.Lock()
		s.closed.Store(true)
		s.pub.bells.ringAll()
		s.pub.Unlock()
		if s.engine != nil {
			s.closeErr = s.engine.close(s.down, s.Err)
		}
	})
	return s.closeErr
}

// Revision implements storage.Store.
func (s *Store) Revision() storage.Revision { return s.state.Load().rev }

// Current implements storage.Store: there are no other writers.
func (s *Store) Current(context.Context) (storage.Revision, error) {
	if s.closed.Load() {
		return 0, storage.ErrClosed
	}
	return s.Revision(), nil
}

// Compacted implements storage.Store.
func (s *Store) Compacted() storage.Revision { return s.state.Load().compacted }

// Err is nil while the store works. After a failed write it returns the cause: from then on the
// store is read-only.
func (s *Store) Err() error {
	if p := s.failure.Load(); p != nil {
		return *p
	}
	return nil
}

// Failed is closed when Err is set.
func (s *Store) Failed() <-chan struct{} { return s.failed }

// fail makes the store read-only, permanently.
func (s *Store) fail(err error) {
	err = fmt.Errorf("the store is read-only since a write failed, restart it when the cause is mended: %w", err)
	if s.failure.CompareAndSwap(nil, &err) {
		s.logFailure()
		close(s.failed)
	}
}

// logFailure logs, once, why an open store has failed, if it has.
func (s *Store) logFailure() {
	if err := s.Err(); err != nil && s.opened.Load() {
		s.logged.Do(func() { s.opts.Logger.Error("storage failed", "err", err) })
	}
}

// engineFailed records a failure that the engine noticed outside of our calls; a call in progress
// may never return.
func (s *Store) engineFailed(err error) {
	s.fail(err)
	s.pub.Lock()
	defer s.pub.Unlock()
	select {
	case <-s.down:
	default:
		close(s.down)
	}
}

func compactedError(r, compacted storage.Revision) error {
	return fmt.Errorf("revision %d, compacted up to %d: %w", r, compacted, storage.ErrCompacted)
}
