package etcd

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"fairlead.dev/storage"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// A Store is a storage.Store on an etcd cluster. See the package comment.
type Store struct {
	opts   Options
	keys   keys
	client *clientv3.Client

	// ctx ends when the store is closed; work counts the goroutines that must end then.
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	// seen and compacted are the highest revisions known to this process.
	seen, compacted atomic.Int64
	// streams numbers the streams of watches, so that no two share one.
	streams atomic.Int64
	rounds  rounds

	// mu is taken before any cursor's.
	mu struct {
		sync.Mutex
		closed  bool
		cursors map[*cursor]struct{}
	}
}

var _ storage.Store = (*Store)(nil)

func newStore(client *clientv3.Client, o Options) *Store {
	s := &Store{opts: o, keys: keys{o.Root, o.Prefix}, client: client}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.mu.cursors = map[*cursor]struct{}{}
	return s
}

// readState reads the current state of the cluster.
func (s *Store) readState(ctx context.Context) error {
	if _, err := s.Current(ctx); err != nil {
		return err
	}
	if err := s.findCompacted(ctx); err != nil {
		return err
	}
	if s.opts.History > 0 {
		s.start(s.runCompaction)
	}
	return nil
}

// start runs f until the store is closed; it does not run f afterwards.
func (s *Store) start(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.closed {
		return false
	}
	s.work.Go(f)
	return true
}

// Close implements storage.Store. Requests under way end with ErrClosed.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.mu.closed {
		s.mu.Unlock()
		return nil
	}
	s.mu.closed = true
	cursors := s.mu.cursors
	s.mu.cursors = nil
	s.mu.Unlock()
	s.cancel()
	for c := range cursors {
		c.fail(storage.ErrClosed)
	}
	err := s.client.Close()
	s.work.Wait()
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return err
}

func (s *Store) isClosed() bool { return s.ctx.Err() != nil }

// Revision implements storage.Store: the last revision known to this process. Other processes may
// have written since; Current asks the cluster.
func (s *Store) Revision() storage.Revision { return storage.Revision(s.seen.Load()) }

// Compacted implements storage.Store: the last compaction known to this process.
func (s *Store) Compacted() storage.Revision { return storage.Revision(s.compacted.Load()) }

// Err is nil if the cluster answers; otherwise it is the reason.
func (s *Store) Err() error {
	ctx, cancel := context.WithTimeout(s.ctx, min(s.opts.Timeout, errTimeout))
	defer cancel()
	_, err := s.Current(ctx)
	return err
}

// errTimeout bounds the wait of health checks.
const errTimeout = 2 * time.Second

func (s *Store) observeRevision(rev int64) { raiseTo(&s.seen, rev) }
func (s *Store) observeCompaction(r int64) { raiseTo(&s.compacted, r) }

func raiseTo(a *atomic.Int64, to int64) {
	for {
		if now := a.Load(); now >= to || a.CompareAndSwap(now, to) {
			return
		}
	}
}

// request is the context of one request: bounded, and refused at once by a member without a leader,
// so that another one is tried.
func (s *Store) request(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(clientv3.WithRequireLeader(ctx), s.opts.Timeout)
}
