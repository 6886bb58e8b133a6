package local

import (
	"context"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"fairlead.dev/storage"
)

// Compact implements storage.Store.
func (s *Store) Compact(ctx context.Context, r storage.Revision) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", storage.ErrNotWritten, err)
	}
	if s.engine == nil {
		return s.compactor.compactTo(r)
	}
	return s.await(ctx, func() error { return s.compactor.compactTo(r) })
}

// await runs f, a call of the engine that may hang, until it returns, ctx ends or the engine fails.
func (s *Store) await(ctx context.Context, f func() error) error {
	if err := s.Err(); err != nil {
		return fmt.Errorf("%w: %w", storage.ErrNotWritten, err)
	}
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, ctx.Err())
	case <-s.down:
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, s.Err())
	}
}

// compactTo compacts to r if r is above the last compaction.
func (c *compactor) compactTo(r storage.Revision) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.store
	st := s.state.Load()
	switch {
	case s.closed.Load():
		return storage.ErrClosed
	case r <= st.compacted || r < 1:
		return compactedError(r, st.compacted)
	case r > st.rev:
		return fmt.Errorf("revision %d, the last is %d: %w", r, st.rev, storage.ErrFutureRevision)
	}
	if err := c.compact(r); err != nil {
		s.fail(err)
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, s.Err())
	}
	return nil
}

// compact drops the versions that only revisions below r can see. Every event up to r superseded at
// most one version, so the log of these events lists all of them; keys that did not change add
// no cost. The order matters:
//
//  1. The new bound is written to disk, so that every hole that a crash leaves is explained.
//  2. It is published, so that a reader that meets a cut chain can find out.
//  3. The chains are cut, and the segments dropped.
//  4. The superseded records become garbage, for the cleaner. They stay on disk for a while; each
//     Open finds them.
//
// c.mu is held.
func (c *compactor) compact(r storage.Revision) error {
	s := c.store
	if s.engine != nil {
		if err := s.engine.bound(r, c.drop(r)); err != nil {
			return err
		}
	} else {
		c.drop(r)
	}
	s.pub.Lock()
	old := s.state.Load()
	first, end := old.log.first, old.log.after(r)
	st := *old
	st.compacted, st.log = r, st.log.trim(end)
	s.state.Store(&st)
	s.pub.Unlock()

	for first < end {
		n := min(end, first+compactStep)
		c.forget(old.log, first, n)
		first = n
	}
	c.ring()
	return nil
}

// compactStep is how many events are forgotten under one lock.
const compactStep = 1024

// drop removes the marks below r from the list and returns them. The one at r stays as the time of
// the kept history.
func (c *compactor) drop(r storage.Revision) []mark {
	n := 0
	for n < len(c.mu.marks) && c.mu.marks[n].rev < r {
		n++
	}
	dropped := c.mu.marks[:n:n]
	c.mu.marks = c.mu.marks[n:]
	return dropped
}

// forget cuts the versions that the events [first, end) have superseded. c.mu is held.
func (c *compactor) forget(log view, first, end int64) {
	s := c.store
	s.work.Lock()
	defer s.work.Unlock()
	shrunk := false
	for seq := first; seq < end; seq++ {
		v := log.at(seq)
		if prev := v.prev.Swap(nil); prev != nil {
			c.bury(prev)
		}
		if v.deleted {
			c.bury(v)
			if e, ok := s.work.tree.Get(v.kv().Key); ok && e.cut(v) {
				s.work.tree.Delete(v.kv().Key)
				shrunk = true
			}
		}
	}
	if shrunk {
		// Groups that are being written may publish an older tree after this one. It shows entries
		// that hold a tombstone, and hides no entry.
		t := s.work.tree.Copy()
		s.pub.Lock()
		st := *s.state.Load()
		st.tree = t
		s.state.Store(&st)
		s.pub.Unlock()
	}
}

// bury records that the record of v is garbage.
func (c *compactor) bury(v *version) {
	if c.store.engine != nil {
		c.mu.garbage.add(v)
		c.store.kept.Add(-int64(recordSize(v)))
	}
}

// bound writes the bound of a compaction to disk and drops old marks.
func (e *engine) bound(r storage.Revision, old []mark) error {
	b := e.db.NewBatch()
	e.note(b)
	b.Set(compactedKey, uint64Value(uint64(r)), nil)
	for _, m := range old {
		b.Delete(markKey(m.rev), nil)
	}
	return e.apply(b, pebble.Sync)
}
