package watchcache

import (
	"context"

	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/storage"

	"github.com/tidwall/btree"
)

// Contents are the objects of several caches as of one revision, for hubs of stores that begin with the same state. These
// hubs share the objects and their encodings, which one bound limits. Contents are immutable; any number of hubs may
// begin with them at once.
type Contents struct {
	rev       storage.Revision
	encodings *object.Encodings
	caches    map[string]*Snapshot // by prefix
}

// ContentsOf returns the contents of a hub's caches as of a revision. Caches that have changed since, or cannot be read,
// are left out. It waits until the hub has the revision, as WaitFor does; without it there are no contents.
func (h *Hub) ContentsOf(ctx context.Context, rev storage.Revision, caches map[string]*Cache) *Contents {
	if h.WaitFor(ctx, rev) != nil {
		return nil
	}
	c := &Contents{rev: rev, encodings: h.encodings, caches: make(map[string]*Snapshot, len(caches))}
	for _, cache := range caches {
		if s := cache.share(rev); s != nil {
			c.caches[cache.resource.opts.Prefix] = s
		}
	}
	return c
}

// share returns a snapshot of a revision that the hub has, for other hubs; nil if the cache has changed since.
func (c *Cache) share(rev storage.Revision) *Snapshot {
	s, err := c.present()
	if err != nil {
		return nil
	}
	mu := &c.state.mu
	mu.Lock()
	defer mu.Unlock()
	if mu.err != nil || mu.last > rev {
		return nil
	}
	mu.history.Share(rev)
	at := *s
	at.rev = rev
	return &at
}

// of returns the contents of the cache with the options, nil if there are none.
func (c *Contents) of(o *Options) *Snapshot {
	if c == nil {
		return nil
	}
	s := c.caches[o.Prefix]
	if s == nil || !s.resource.opts.readAlike(o) {
		return nil
	}
	return s
}

// copyOf copies a tree that is never changed. Copy alone would change a field of it, which other goroutines may be
// reading.
func copyOf(tree *btree.Map[string, *Object]) *btree.Map[string, *Object] {
	same := *tree
	return same.Copy()
}
