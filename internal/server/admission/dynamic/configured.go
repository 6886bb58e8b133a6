package dynamic

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"fairlead.dev/internal/server/admission"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// Configured is the present objects of a resource, each turned into a T once for each
// of its revisions.
type Configured[T any] struct {
	cache   *watchcache.Cache
	compile func(value []byte) (T, error)
	present atomic.Pointer[generation[T]]
	mu      sync.Mutex // held while a new generation is made
}

type generation[T any] struct {
	at    storage.Revision
	list  []T
	known map[string]made[T]
}

type made[T any] struct {
	of storage.Revision
	t  T
}

// NewConfigured returns the objects of a cache. compile is given an object as it is
// stored; it may be slow. A nil cache has no objects.
func NewConfigured[T any](c *watchcache.Cache, compile func(value []byte) (T, error)) *Configured[T] {
	return &Configured[T]{cache: c, compile: compile}
}

// Present is how a request reads configurations: as of when it began or later. All
// caches advance together, and what a request has read to come this far was the latest:
// the object that it changes, or the namespace of the one that it makes. A connection has
// read nothing.
func Present(r *admission.Request) watchcache.ReadAt {
	if r.Verb == admission.Create && r.Namespace == "" || r.Verb == admission.Connect {
		return watchcache.ReadAt{}
	}
	return watchcache.ReadAt{Match: watchcache.Any}
}

// List returns the objects in the order of their names. What it returns is shared.
func (c *Configured[T]) List(ctx context.Context, at watchcache.ReadAt) ([]T, error) {
	if c == nil || c.cache == nil {
		return nil, nil
	}
	rev, err := c.cache.Changed(ctx, at)
	if err != nil {
		return nil, err
	}
	if g := c.present.Load(); g != nil && g.at == rev {
		return g.list, nil
	}
	return c.renew(ctx)
}

// renew takes in what has changed.
func (c *Configured[T]) renew(ctx context.Context) ([]T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := watchcache.ReadAt{Match: watchcache.Any}
	// The revision first: should there be a change in between, the next List
	// looks again.
	rev, err := c.cache.Changed(ctx, now)
	if err != nil {
		return nil, err
	}
	old := c.present.Load()
	if old != nil && old.at == rev {
		return old.list, nil
	}
	snap, err := c.cache.Snapshot(ctx, now)
	if err != nil {
		return nil, err
	}
	objects, err := snap.List(watchcache.Selection{}, "", 0)
	if err != nil {
		return nil, err
	}
	g := &generation[T]{at: rev, known: map[string]made[T]{}}
	for o := range objects {
		var m made[T]
		if old != nil {
			m = old.known[o.Key()]
		}
		if m.of != o.Revision() {
			m.of = o.Revision()
			if m.t, err = c.compile(o.Value()); err != nil {
				return nil, fmt.Errorf("%s: %w", o.Key(), err)
			}
		}
		g.known[o.Key()] = m
		g.list = append(g.list, m.t)
	}
	c.present.Store(g)
	return g.list, nil
}
