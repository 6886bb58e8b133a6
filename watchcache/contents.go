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

// ContentsOf returns the contents of a hub's caches as of a revision. Caches that cannot be read at the revision are left
// out.
func (h *Hub) ContentsOf(ctx context.Context, rev storage.Revision, caches map[string]*Cache) *Contents {
	c := &Contents{rev: rev, encodings: h.encodings, caches: make(map[string]*Snapshot, len(caches))}
	for _, cache := range caches {
		if s, err := cache.Snapshot(ctx, ReadAt{Match: Exact, Revision: rev}); err == nil {
			c.caches[cache.resource.opts.Prefix] = s
		}
	}
	return c
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
