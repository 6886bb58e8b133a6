package watchcache

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/storage"
)

const (
	// maxPastSnapshots and pastSnapshotTTL bound the snapshots of the past that are kept for the
	// next page of a list.
	maxPastSnapshots = 4
	pastSnapshotTTL  = time.Minute
)

// exact returns a snapshot of a revision that has been applied. It fails for a revision that the
// store has compacted, even if the cache still knows it: a page of a list expires at the same time
// on every replica, however busy the resource is.
func (c *Cache) exact(ctx context.Context, rev storage.Revision) (*Snapshot, error) {
	if rev <= 0 || rev < c.hub.store.Compacted() {
		return nil, storage.ErrCompacted
	}
	s, err := c.present()
	if err != nil || s.rev == rev {
		return s, err
	}
	if s := c.pastSnapshot(rev); s != nil {
		return s, nil
	}
	if s = c.undo(rev); s == nil {
		if s, err = c.readStore(ctx, rev); err != nil {
			return nil, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.pastSnapshots = append(c.mu.pastSnapshots, s); len(c.mu.pastSnapshots) > maxPastSnapshots {
		c.mu.pastSnapshots = slices.Delete(c.mu.pastSnapshots, 0, 1)
	}
	return s, nil
}

// pastSnapshot finds a kept snapshot of the past.
func (c *Cache) pastSnapshot(rev storage.Revision) *Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.mu.pastSnapshots {
		if s.rev == rev {
			s.used = time.Now()
			return s
		}
	}
	return nil
}

func (c *Cache) forgetPastSnapshots(now time.Time) {
	c.mu.pastSnapshots = slices.DeleteFunc(c.mu.pastSnapshots, func(s *Snapshot) bool { return now.Sub(s.used) > pastSnapshotTTL })
}

// undo reverts the changes after rev in a copy of the tree; nil if the ring does not reach back
// that far.
func (c *Cache) undo(rev storage.Revision) *Snapshot {
	c.mu.Lock()
	if rev < c.mu.floor {
		c.mu.Unlock()
		return nil
	}
	tree, ring := c.mu.tree.Copy(), c.mu.ring.View(c.mu.ring.First())
	unreadable := map[string]*Object{}
	for key, l := range c.mu.lapses {
		unreadable[key] = l.object
	}
	c.mu.Unlock()
	for i := len(ring) - 1; i >= 0 && ring[i].rev > rev; i-- {
		ch := &ring[i]
		key := ch.either().Key()
		delete(unreadable, key)
		if ch.old == nil {
			tree.Delete(key)
			continue
		}
		tree.Set(key, ch.old)
		if !object.Readable(ch.old) {
			unreadable[key] = ch.old
		}
	}
	s := &Snapshot{cache: c, rev: rev, tree: tree, unreadable: slices.Collect(maps.Values(unreadable)), used: time.Now()}
	object.SortByKey(s.unreadable)
	return s
}

func (c *Cache) readStore(ctx context.Context, rev storage.Revision) (*Snapshot, error) {
	r, err := c.hub.store.Range(ctx, storage.RangeRequest{
		Start: c.opts.Prefix, End: storage.PrefixEnd(c.opts.Prefix), Revision: rev,
	})
	if errors.Is(err, storage.ErrFutureRevision) {
		return nil, &TooNewError{rev, c.hub.Revision()}
	}
	if err != nil {
		return nil, err
	}
	s := &Snapshot{cache: c, rev: rev, used: time.Now()}
	s.tree, s.unreadable = c.treeOf(r.KVs)
	return s, nil
}
