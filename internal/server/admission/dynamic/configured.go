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

// Configured holds the present objects of a resource, each compiled to a T once per revision.
type Configured[T any] struct {
	cache   *watchcache.Cache
	compile func(value []byte) (T, error)
	present atomic.Pointer[generation[T]]
	mu      sync.Mutex // held while a new generation is built
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

// NewConfigured returns the objects of a cache. compile is given an object's stored bytes; it may be slow. A nil
// cache has no objects.
func NewConfigured[T any](c *watchcache.Cache, compile func(value []byte) (T, error)) *Configured[T] {
	return &Configured[T]{cache: c, compile: compile}
}

// Present returns how a request reads configurations: at its start or later. All caches advance together, and every
// request has already read the latest state of some object: the object that it changes, or the namespace of the one
// it creates. Cluster-scoped creates and connects have not read any object, so they read the latest state here.
func Present(r *admission.Request) watchcache.ReadAt {
	if r.Verb == admission.Create && r.Namespace == "" || r.Verb == admission.Connect {
		return watchcache.ReadAt{}
	}
	return watchcache.ReadAt{Match: watchcache.Any}
}

// List returns the objects in the order of their names. They are shared.
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

// renew rebuilds the list from the changed objects.
func (c *Configured[T]) renew(ctx context.Context) ([]T, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := watchcache.ReadAt{Match: watchcache.Any}
	// The revision comes first: if a change follows it, the next List sees that.
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
