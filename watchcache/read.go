package watchcache

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"fairlead.dev/internal/watchcache/selection"
	"fairlead.dev/storage"
)

// A Match relates a read to its revision.
type Match uint8

const (
	// Latest reads the state that the store holds when the read begins, or a later one.
	Latest Match = iota
	// NotOlder reads the cache's current state, which must be at the revision or above; otherwise
	// the read waits.
	NotOlder
	// Exact reads the state of exactly the revision.
	Exact
	// Any reads the cache's current state, however far behind it is.
	Any
)

// ReadAt selects the revision of a read; the zero value is Latest.
type ReadAt struct {
	Match Match
	// Revision is for NotOlder and Exact.
	Revision storage.Revision
}

// maxWait bounds the wait for a revision in the future.
const maxWait = 3 * time.Second

// A TooNewError reports that a revision was not reached within 3 seconds.
type TooNewError struct{ Requested, Current storage.Revision }

func (e *TooNewError) Error() string {
	return fmt.Sprintf("revision %d is ahead of the present one, %d", e.Requested, e.Current)
}

// WaitFor returns once the caches are complete up to rev. It applies the events that the store has
// itself, and waits only for revisions that the store does not have yet: up to 3 seconds, then it
// fails with a *TooNewError. Other errors: storage.ErrUnavailable, storage.ErrClosed, the
// context's.
func (h *Hub) WaitFor(ctx context.Context, rev storage.Revision) error {
	if h.Revision() >= rev {
		return nil
	}
	h.mu.Lock()
	err := h.advance(rev)
	if err != nil || h.Revision() >= rev {
		h.mu.Unlock()
		return err
	}
	w := &waiter{rev, make(chan struct{})}
	h.mu.waiters = append(h.mu.waiters, w)
	h.want(rev)
	h.mu.Unlock()
	err = h.wait(ctx, w)
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil && h.Revision() < rev {
		err = h.mu.err // the store was closed
	}
	if i := slices.Index(h.mu.waiters, w); i >= 0 {
		h.mu.waiters = slices.Delete(h.mu.waiters, i, i+1)
	}
	return err
}

// wait returns when w's revision is reached. The first that hears the store's bell, a reader or the
// feeder, applies the new events.
func (h *Hub) wait(ctx context.Context, w *waiter) error {
	timeout := time.NewTimer(maxWait)
	defer timeout.Stop()
	for {
		select {
		case <-w.done:
			return nil
		case <-h.bell():
			h.mu.Lock()
			err := h.advance(w.rev)
			if err == nil {
				_ = h.loadMissing() // a failure is returned to the readers of the cache that is missing
			}
			h.wakeFeeder()
			h.mu.Unlock()
			if err != nil {
				return err
			}
		case <-timeout.C:
			return &TooNewError{w.rev, h.Revision()}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (h *Hub) bell() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mu.cursor == nil {
		return nil
	}
	return h.mu.cursor.Bell()
}

// await brings the cache up to the revision of a read.
func (c *Cache) await(ctx context.Context, at ReadAt) error {
	switch at.Match {
	case Any:
		return nil
	case NotOlder, Exact:
		return c.hub.WaitFor(ctx, at.Revision)
	}
	rev, err := c.hub.store.Current(ctx)
	if err != nil {
		return err
	}
	err = c.hub.WaitFor(ctx, rev)
	if late := (*TooNewError)(nil); errors.As(err, &late) {
		return fmt.Errorf("%w: the cache stands at %d, the store at %d", storage.ErrUnavailable, late.Current, late.Requested)
	}
	return err
}

// Get returns one object, nil if it does not exist, and the revision at which this was true. Errors
// are those of Snapshot, and *UnreadableError.
func (c *Cache) Get(ctx context.Context, namespace, name string, at ReadAt) (*Object, storage.Revision, error) {
	if at.Match == Exact {
		s, err := c.Snapshot(ctx, at)
		if err != nil {
			return nil, 0, err
		}
		o, err := s.Get(namespace, name)
		return o, s.Revision(), err
	}
	if err := c.await(ctx, at); err != nil {
		return nil, 0, err
	}
	rev := c.hub.Revision()
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.mu.err != nil {
		return nil, 0, c.mu.err
	}
	o, ok := c.mu.tree.Get(c.Key(namespace, name))
	if !ok {
		return nil, rev, nil
	}
	rev = max(rev, o.Revision())
	o, err := c.whole(o)
	return o, rev, err
}

// Snapshot returns the resource as of one revision. Errors: *TooNewError for a revision that was
// not reached within 3 seconds; storage.ErrCompacted for an exact one that is no longer kept;
// storage.ErrUnavailable, for Latest also when the cache cannot catch up; storage.ErrClosed; the
// context's.
//
// A snapshot of the current state is free until the next change after it. One of the past is
// the current state with the later changes undone; before the kept history it is read from the
// store.
func (c *Cache) Snapshot(ctx context.Context, at ReadAt) (*Snapshot, error) {
	if err := c.await(ctx, at); err != nil {
		return nil, err
	}
	if at.Match == Exact {
		return c.exact(ctx, at.Revision)
	}
	return c.present()
}

// present returns a snapshot of the current state. Without changes it is the same tree; only the
// first reader after a change makes a copy.
func (c *Cache) present() (*Snapshot, error) {
	// The order of these loads matters: if there still is a snapshot, no change up to rev has
	// touched this cache since it was made.
	rev := c.hub.Revision()
	if s := c.snap.Load(); s != nil {
		if s.rev >= rev {
			return s, nil
		}
		later := *s
		later.rev = rev
		c.snap.CompareAndSwap(s, &later)
		return &later, nil
	}
	// With the hub's lock no batch is half applied.
	c.hub.mu.Lock()
	defer c.hub.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.err != nil {
		return nil, c.mu.err
	}
	s := &Snapshot{cache: c, rev: c.hub.Revision(), tree: c.mu.tree.Copy(), indexes: c.mu.indexes.Copy(), unreadable: c.unreadable()}
	c.snap.Store(s)
	return s, nil
}

// noteMiss records that a list missed an index, and builds it if that is worth it.
func (c *Cache) noteMiss(dim selection.Dimension) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.err != nil {
		return
	}
	built := c.mu.indexes.Miss(dim, func(yield func(*Object)) {
		c.mu.tree.Scan(func(_ string, o *Object) bool {
			yield(o)
			return true
		})
	})
	if built {
		c.snap.Store(nil)
	}
}

// Changed returns the revision of the resource's newest change, or of the cache's loading: a cheap
// test for anything new. Errors are those of Snapshot; Exact is not supported.
func (c *Cache) Changed(ctx context.Context, at ReadAt) (storage.Revision, error) {
	if err := c.await(ctx, at); err != nil {
		return 0, err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.mu.last, c.mu.err
}
