package watchcache

import (
	"context"
	"errors"
	"maps"
	"slices"

	"fairlead.dev/internal/watchcache/follow"
	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/storage"
)

// exact returns a snapshot of a revision that has been applied. It fails for a revision that the
// store has compacted, even if the cache still knows it: a page of a list expires at the same time
// on every replica, however busy the resource is.
func (c *Cache) exact(ctx context.Context, rev storage.Revision) (*Snapshot, error) {
	if rev <= 0 || rev < c.store.Compacted() {
		return nil, storage.ErrCompacted
	}
	s, err := c.present()
	if err != nil || s.rev == rev {
		return s, err
	}
	c.state.mu.Lock()
	s = c.state.mu.past.find(rev)
	c.state.mu.Unlock()
	if s != nil {
		return s, nil
	}
	if s = c.state.undo(rev); s == nil {
		if s, err = c.readStore(ctx, rev); err != nil {
			return nil, err
		}
	}
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	c.state.mu.past.keep(s)
	return s, nil
}

// undo reverts the changes after rev in a copy of the tree; nil if the history does not reach back
// that far.
func (s *state) undo(rev storage.Revision) *Snapshot {
	s.mu.Lock()
	if rev < s.mu.history.Floor() {
		s.mu.Unlock()
		return nil
	}
	tree, changes := s.mu.tree.Copy(), s.mu.history.View(s.mu.history.First())
	unreadable := map[string]*Object{}
	for key, l := range s.mu.lapses {
		unreadable[key] = l.object
	}
	s.mu.Unlock()
	for i := len(changes) - 1; i >= 0 && changes[i].Revision > rev; i-- {
		ch := &changes[i]
		key := ch.Object().Key()
		delete(unreadable, key)
		if ch.Old == nil {
			tree.Delete(key)
			continue
		}
		tree.Set(key, ch.Old)
		if !object.Readable(ch.Old) {
			unreadable[key] = ch.Old
		}
	}
	snap := &Snapshot{resource: s.resource, rev: rev, tree: tree, unreadable: slices.Collect(maps.Values(unreadable))}
	object.SortByKey(snap.unreadable)
	return snap
}

// readStore reads a snapshot from the store.
func (c *Cache) readStore(ctx context.Context, rev storage.Revision) (*Snapshot, error) {
	l := newLoading(&c.resource, c.store)
	err := follow.Read(ctx, c.store, c.resource.opts.Prefix, rev, l.Add)
	if errors.Is(err, storage.ErrFutureRevision) {
		return nil, &follow.TooNewError{Requested: rev, Current: c.follower.Revision()}
	}
	if err != nil {
		return nil, err
	}
	return &Snapshot{resource: &c.resource, rev: rev, tree: l.tree, unreadable: l.unreadable}, nil
}
