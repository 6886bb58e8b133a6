package watchcache

import (
	"context"
	"errors"
	"fmt"

	"fairlead.dev/internal/watchcache/follow"
	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/storage"
)

// A Match relates a read to its revision.
type Match uint8

const (
	// Latest reads the state that the store holds when the read begins, or a later one.
	Latest Match = iota
	// Request reads the state that the store held when a read of the same request first asked for it, or a later one: it asks
	// the store once for all reads of the request until that tries to write. The request is that of the context (WithRequest);
	// without one, Request is Latest. A request that trusts (Trust) does not ask.
	Request
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

// A TooNewError reports that a revision was not reached within 3 seconds.
type TooNewError = follow.TooNewError

// await brings the cache up to the revision of a read.
func (c *Cache) await(ctx context.Context, at ReadAt) error {
	switch at.Match {
	case Any:
		return nil
	case NotOlder, Exact:
		return c.follower.WaitFor(ctx, at.Revision)
	}
	rev, err := c.current(ctx, at.Match)
	if err != nil {
		return err
	}
	err = c.follower.WaitFor(ctx, rev)
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
	o, rev, err := c.get(namespace, name)
	if err == nil && o != nil && !object.Readable(o) && c.reopen([]*Object{o}) {
		o, rev, err = c.get(namespace, name)
	}
	if err != nil {
		return nil, 0, err
	}
	o, err = c.resource.readable(o)
	return o, rev, err
}

// get returns the present object, readable or not, nil if it does not exist.
func (c *Cache) get(namespace, name string) (*Object, storage.Revision, error) {
	rev := c.follower.Revision()
	c.state.mu.RLock()
	defer c.state.mu.RUnlock()
	if c.state.mu.err != nil {
		return nil, 0, c.state.mu.err
	}
	o, ok := c.state.mu.tree.Get(c.Key(namespace, name))
	if !ok {
		return nil, rev, nil
	}
	return o, max(rev, o.Revision()), nil
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
	read := c.present
	if at.Match == Exact {
		read = func() (*Snapshot, error) { return c.exact(ctx, at.Revision) }
	}
	s, err := read()
	if err == nil && len(s.unreadable) > 0 && c.reopen(s.unreadable) {
		return read()
	}
	return s, err
}

// Changed returns the revision of the resource's newest change, or of the cache's loading: a cheap
// test for anything new. Errors are those of Snapshot; Exact is not supported.
func (c *Cache) Changed(ctx context.Context, at ReadAt) (storage.Revision, error) {
	if err := c.await(ctx, at); err != nil {
		return 0, err
	}
	c.state.mu.RLock()
	defer c.state.mu.RUnlock()
	return c.state.mu.last, c.state.mu.err
}
