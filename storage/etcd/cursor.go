package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"fairlead.dev/storage"
)

// A goroutine of its own (see pump.go) feeds a cursor from a watch of its own, and the cursor holds
// the events until they are read. When these are too many the watch is closed, and reopened at the
// same revision once the cursor has been read.
type cursor struct {
	store *Store
	span  span
	// empty: the cluster has no keys in the span; only Progress moves.
	empty bool
	prev  bool // see storage.WatchRequest
	bell  chan struct{}
	// kick wakes the pump: there is room again, or a revision is wanted.
	kick chan struct{}
	// opened is closed when the cluster feeds the cursor for the first time, or it
	// has ended.
	opened chan struct{}
	open   sync.Once

	ctx    context.Context
	cancel context.CancelFunc

	mu struct {
		sync.Mutex
		events   []storage.Event
		size     int
		progress storage.Revision
		// wanted is the requested Progress, until it is reached or until has passed.
		wanted storage.Revision
		until  time.Time
		// err ends the cursor when the events before it have been read.
		err error
	}
}

var _ storage.Cursor = (*cursor)(nil)

// wantFor is how long a cursor requests a revision that does not come.
const wantFor = 5 * time.Second

// Watch implements storage.Store. It returns when the cluster has opened the watch.
func (s *Store) Watch(r storage.WatchRequest) (storage.Cursor, error) {
	after := r.After
	if after < 0 {
		return nil, fmt.Errorf("watch after %d: %w", after, storage.ErrInvalid)
	}
	if s.isClosed() {
		return nil, storage.ErrClosed
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.opts.Timeout)
	defer cancel()
	var err error
	if after == 0 {
		after, err = s.Current(ctx)
	} else if err = s.checkReadable(ctx, after); errors.Is(err, storage.ErrFutureRevision) {
		err = nil
	}
	if errors.Is(err, storage.ErrCompacted) {
		s.observeCompaction(int64(after) + 1)
	}
	if err != nil {
		return nil, fmt.Errorf("watch after %d: %w", after, err)
	}
	r.After = after
	c := s.newCursor(r)
	if !s.startPump(c) {
		return nil, storage.ErrClosed
	}
	select {
	case <-c.opened:
		return c, nil
	case <-ctx.Done():
		c.Close()
		return nil, fmt.Errorf("watch after %d: %w: the cluster does not answer", after, storage.ErrUnavailable)
	}
}

func (s *Store) newCursor(r storage.WatchRequest) *cursor {
	c := &cursor{
		store:  s,
		prev:   r.Prev,
		bell:   make(chan struct{}, 1),
		kick:   make(chan struct{}, 1),
		opened: make(chan struct{}),
	}
	sp, ok := s.keys.span(r.Start, r.End)
	if c.span = sp; !ok {
		c.span, c.empty = span{start: s.keys.probeKey()}, true
	}
	c.ctx, c.cancel = context.WithCancel(s.ctx)
	c.mu.progress = r.After
	return c
}

// startPump starts the cursor's pump; false if the store is closed.
func (s *Store) startPump(c *cursor) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.closed {
		return false
	}
	s.mu.cursors[c] = struct{}{}
	s.work.Go(c.pump)
	return true
}

func (c *cursor) Bell() <-chan struct{} { return c.bell }

func (c *cursor) ring() { notify(c.bell) }

// notify sends on a channel of one slot.
func notify(bell chan struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
}

// Next implements storage.Cursor.
func (c *cursor) Next() (storage.Batch, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if errors.Is(c.mu.err, storage.ErrClosed) || c.mu.err != nil && len(c.mu.events) == 0 {
		return storage.Batch{}, c.mu.err
	}
	b := storage.Batch{Events: c.mu.events, Progress: c.mu.progress}
	if c.mu.err != nil {
		c.ring()
	}
	if c.isFull() {
		notify(c.kick)
	}
	c.mu.events, c.mu.size = nil, 0
	return b, nil
}

// isFull reports that no more events are accepted; mu is held.
func (c *cursor) isFull() bool { return c.mu.size >= c.store.opts.Buffer }

// Want implements storage.Cursor.
func (c *cursor) Want(r storage.Revision) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.err != nil || c.mu.progress >= r {
		c.ring()
		return
	}
	c.mu.wanted = max(c.mu.wanted, r)
	c.mu.until = time.Now().Add(wantFor)
	notify(c.kick)
}

// fail makes Next fail when the earlier events have been read.
func (c *cursor) fail(err error) {
	c.mu.Lock()
	if c.mu.err == nil || errors.Is(err, storage.ErrClosed) {
		c.mu.err = err
	}
	c.mu.Unlock()
	c.open.Do(func() { close(c.opened) })
	c.cancel()
	c.ring()
}

// Close implements storage.Cursor.
func (c *cursor) Close() {
	s := c.store
	s.mu.Lock()
	delete(s.mu.cursors, c)
	s.mu.Unlock()
	c.fail(storage.ErrClosed)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.events = nil
}
