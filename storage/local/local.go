package local

import (
	"context"
	"fmt"
	"sync"

	"fairlead.dev/storage"

	"fairlead.dev/internal/storage/engine"
	"fairlead.dev/internal/storage/mvcc"
)

// A Store is a storage.Store in this process. See the package comment.
type Store struct {
	engine *engine.Engine // nil if in memory only

	failure   failure
	published published
	working   working
	queue     queue

	times     times
	packer    *packer
	compactor compactor
	cleaner   *cleaner // nil if in memory only
	upkeep    upkeep
	committer committer
	lessor    *lessor

	closing  sync.Once
	closeErr error
}

// Open opens the store in dir, creating it if the directory is empty or missing. Errors: ErrInUse,
// ErrForeign, ErrCorrupt, or that of the file system.
func Open(dir string, o Options) (*Store, error) {
	o = o.withDefaults()
	s := &Store{}
	s.failure.init(o.Logger)
	img := engine.NewImage()
	if !o.InMemory {
		var err error
		if s.engine, img, err = engine.Open(dir, o.engine(), s.failure.hang); err != nil {
			return nil, err
		}
	}
	s.assemble(o, img)
	s.start(o, img.Packer)
	s.failure.open()
	return s, nil
}

// assemble gives each part of the store what it needs of the others, and the content of img.
func (s *Store) assemble(o Options, img *engine.Image) {
	s.working.published, s.working.noSync = &s.published, o.NoSync
	if o.InMemory {
		s.working.mu.quota = quota{max: o.MaxBytes, live: img.Live.Bytes, bell: make(chan struct{}, 1)}
	}
	s.working.mu.tree, s.working.mu.rev, s.working.mu.leases = img.Tree, img.Rev, img.Leases
	s.published.state.Store(&state{
		rev: img.Rev, compacted: img.Compacted,
		tree: s.working.mu.tree.Copy(), log: img.Log, live: img.Live,
	})
	s.queue.failure, s.queue.bell = &s.failure, make(chan struct{}, 1)
	s.upkeep.init(&s.failure)

	c := &s.compactor
	c.engine, c.published, c.working, c.failure = s.engine, &s.published, &s.working, &s.failure
	c.history, c.bell, c.times = o.History, make(chan struct{}, 1), &s.times
	c.mu.marks, c.mu.garbage = img.Marks, img.Garbage
	s.times.open(img.Marks)
	if s.engine != nil {
		s.cleaner = &cleaner{
			engine: s.engine, compactor: c, published: &s.published, failure: &s.failure, ctx: s.upkeep.ctx,
		}
	}

	m := &s.committer
	m.queue, m.working, m.published, m.failure = &s.queue, &s.working, &s.published, &s.failure
	m.engine, m.cleaner, m.trace = s.engine, s.cleaner, o.Trace
}

// start starts the goroutines. before is the packer of the store's content.
func (s *Store) start(o Options, before mvcc.Packer) {
	s.packer = startPacker(&s.published, before)
	s.committer.packer = s.packer
	s.committer.start()
	s.upkeep.start(o, &s.compactor, s.cleaner)
	s.lessor = startLessor(&s.queue, &s.working, &s.failure)
}

// Close implements storage.Store: queued commits are finished, later ones are refused.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.lessor.stop()
		s.upkeep.stop()
		s.queue.close()
		s.committer.wait()
		s.packer.stop()
		s.published.close()
		if s.engine != nil {
			s.closeErr = s.engine.Close(s.failure.down, s.failure.err)
		}
	})
	return s.closeErr
}

// Revision implements storage.Store.
func (s *Store) Revision() storage.Revision { return s.published.state.Load().rev }

// Current implements storage.Store: there are no other writers.
func (s *Store) Current(context.Context) (storage.Revision, error) {
	if s.published.closed.Load() {
		return 0, storage.ErrClosed
	}
	return s.Revision(), nil
}

// Compacted implements storage.Store.
func (s *Store) Compacted() storage.Revision { return s.published.state.Load().compacted }

// Err is nil while the store works. After a failed write it returns the cause: from then on the
// store is read-only.
func (s *Store) Err() error { return s.failure.err() }

// Failed is closed when Err is set.
func (s *Store) Failed() <-chan struct{} { return s.failure.failed }

// Range implements storage.Store.
func (s *Store) Range(ctx context.Context, r storage.RangeRequest) (storage.RangeResult, error) {
	return s.published.read(ctx, r)
}

// Versions implements storage.Store.
func (s *Store) Versions(ctx context.Context, r storage.VersionsRequest) (storage.VersionsResult, error) {
	res, err := s.published.versions(ctx, r)
	for i := range res.Versions {
		v := &res.Versions[i]
		v.After, v.By = s.times.of(v.Revision())
	}
	return res, err
}

// Watch implements storage.Store.
func (s *Store) Watch(r storage.WatchRequest) (storage.Cursor, error) {
	return s.published.watch(r)
}

// Commit implements storage.Store.
func (s *Store) Commit(ctx context.Context, t storage.Txn) (storage.TxnResult, error) {
	if err := check(t); err != nil {
		return storage.TxnResult{}, err
	}
	c := &call{txn: t, done: make(chan struct{})}
	if err := s.queue.do(ctx, c); err != nil {
		return storage.TxnResult{}, err
	}
	return c.res, nil
}

// Compact implements storage.Store.
func (s *Store) Compact(ctx context.Context, r storage.Revision) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", storage.ErrNotWritten, err)
	}
	if s.engine == nil {
		return s.compactor.compactTo(r)
	}
	return s.failure.await(ctx, func() error { return s.compactor.compactTo(r) })
}

// Defragment returns all space that compaction has freed to the disk, now.
func (s *Store) Defragment(ctx context.Context) error {
	if s.engine == nil {
		return s.Err()
	}
	return s.failure.await(ctx, func() error {
		err := s.cleaner.defragment(ctx)
		if err != nil {
			s.failure.fail(err)
			err = fmt.Errorf("%w: %w", storage.ErrUnavailable, s.Err())
		}
		return err
	})
}

var _ storage.Store = (*Store)(nil)
