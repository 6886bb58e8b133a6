package watchcache

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fairlead.dev/storage"
)

// lost gives up the cursor for a reason. A closed store stays closed: all caches end.
func (h *Hub) lost(err error) {
	if h.mu.cursor != nil {
		h.mu.cursor.Close()
		h.mu.cursor = nil
	}
	h.mu.err = err
	h.mu.retryAt = time.Time{}
	switch {
	case errors.Is(err, storage.ErrClosed):
		for _, c := range h.mu.caches {
			c.close()
		}
		for _, w := range h.mu.waiters {
			close(w.done)
		}
		h.mu.waiters = nil
	case errors.Is(err, storage.ErrCompacted):
		h.mu.stale = true
	}
	h.wakeFeeder()
}

// follow makes sure that there is a cursor. It first tries to continue at the last one's revision,
// so that watchers go on; if the history in between is compacted, all caches are loaded again and
// all watchers expire.
func (h *Hub) follow() error {
	if h.mu.cursor != nil {
		return nil
	}
	if errors.Is(h.mu.err, storage.ErrClosed) {
		return h.mu.err
	}
	if now := time.Now(); now.Before(h.mu.retryAt) {
		return h.mu.err
	}
	err := h.reopen()
	if err != nil {
		if !errors.Is(err, storage.ErrClosed) && !errors.Is(err, storage.ErrUnavailable) {
			err = fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
		}
		h.lost(err)
		h.mu.retryAt = time.Now().Add(retryAfter)
	}
	return err
}

func (h *Hub) reopen() error {
	if !h.mu.stale {
		cursor, err := h.store.Watch(Root, storage.PrefixEnd(Root), h.Revision())
		if err == nil {
			h.mu.cursor, h.mu.err = cursor, nil
			for _, w := range h.mu.waiters {
				cursor.Want(w.rev)
			}
			h.wakeFeeder()
			return nil
		}
		if !errors.Is(err, storage.ErrCompacted) {
			return err
		}
	}
	return h.rebuild()
}

// rebuild loads every cache as of the store's current revision.
func (h *Hub) rebuild() error {
	rev, err := h.store.Current(context.Background())
	if err != nil {
		return err
	}
	cursor, err := h.store.Watch(Root, storage.PrefixEnd(Root), rev)
	if err != nil {
		return err
	}
	loads := make(map[*Cache][]*storage.KeyValue, len(h.mu.caches))
	for _, c := range h.mu.caches {
		if loads[c], err = h.load(c, rev); err != nil {
			cursor.Close()
			return err
		}
	}
	for c, kvs := range loads {
		c.reset(kvs, rev)
	}
	h.mu.cursor, h.mu.err, h.mu.stale, h.mu.unloaded = cursor, nil, false, nil
	h.rebuilds.Add(1)
	if rev < h.Revision() {
		// The store was restored to an older state.
		h.applied.Store(int64(rev))
	}
	h.publish(rev)
	h.wakeFeeder()
	return nil
}

// loadMissing loads the caches that failed to load when they were added.
func (h *Hub) loadMissing() error {
	for len(h.mu.unloaded) > 0 {
		if err := h.fill(h.mu.unloaded[0]); err != nil {
			return err
		}
		h.mu.unloaded = h.mu.unloaded[1:]
	}
	return nil
}

// fill loads one cache as of the hub's revision. If that is compacted, the hub is behind: it
// applies the events that the store has and, if that is not enough, asks for more and fails, to be
// tried again.
func (h *Hub) fill(c *Cache) error {
	kvs, err := h.load(c, h.Revision())
	if errors.Is(err, storage.ErrCompacted) && h.advance(h.store.Revision()) == nil {
		if kvs, err = h.load(c, h.Revision()); errors.Is(err, storage.ErrCompacted) {
			h.want(h.store.Revision())
		}
	}
	if err == nil {
		c.reset(kvs, h.Revision())
	}
	return err
}

// load reads the keys of one cache.
func (h *Hub) load(c *Cache, rev storage.Revision) ([]*storage.KeyValue, error) {
	r, err := h.store.Range(context.Background(), storage.RangeRequest{
		Start: c.opts.Prefix, End: storage.PrefixEnd(c.opts.Prefix), Revision: rev,
	})
	return r.KVs, err
}

// close ends the cache permanently.
func (c *Cache) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.err = fmt.Errorf("%s: %w", c.opts.Resource, storage.ErrClosed)
	c.endAll(c.mu.err)
	c.snap.Store(nil)
}
