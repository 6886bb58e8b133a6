package watchcache

import (
	"fmt"
	"sync"
	"sync/atomic"

	"fairlead.dev/internal/watchcache/follow"
	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/internal/watchcache/topic"
	"fairlead.dev/storage"
)

// A Cache holds one resource: its current objects, the recent changes, and the topics of its
// watchers. The package comment states the promises to readers.
type Cache struct {
	resource resource
	state    state
	// follower brings the state up to a revision; store holds the past before the kept history.
	follower *follow.Follower
	store    storage.Store

	expired atomic.Int64
	// reopening is held by the caller that tries again to decrypt unreadable objects. It is taken before all other locks.
	reopening sync.Mutex
}

// Options returns the options of the cache.
func (c *Cache) Options() Options { return c.resource.opts }

// Key returns the store's key of an object of this resource.
func (c *Cache) Key(namespace, name string) string { return c.resource.kind.Key(namespace, name) }

// NewObject reads a key of the cache's resource with its value before it is encrypted. It fails if the value is not a JSON object,
// if its metadata is not one, or if Options.Read fails.
//
// A value that carries metadata.resourceVersion, which this server never writes, is copied without
// it.
func NewObject(kv *storage.KeyValue, c *Cache) (*Object, error) {
	return object.NewDecrypted(kv, c.resource.kind)
}

// Stats are figures for metrics.
type Stats struct {
	Objects int
	// Events and EventBytes measure the kept history.
	Events, EventBytes int
	Topics, Watchers   int
	// Unreadable counts the objects whose values are unreadable.
	Unreadable int
	// Expired counts watchers that fell behind the kept history; DecodeErrors counts failures to
	// read a stored value.
	Expired, DecodeErrors int64
}

// Stats returns the current figures.
func (c *Cache) Stats() Stats {
	mu := &c.state.mu
	mu.RLock()
	defer mu.RUnlock()
	return Stats{
		Objects:      mu.tree.Len(),
		Events:       mu.history.Len(),
		EventBytes:   mu.history.Bytes(),
		Topics:       mu.topics.Len(),
		Watchers:     mu.topics.Readers(),
		Unreadable:   len(mu.lapses),
		Expired:      c.expired.Load(),
		DecodeErrors: c.resource.decodeErrors.Load(),
	}
}

// present returns a snapshot of the current state. Without changes it is the same tree; only the
// first reader after a change makes a copy.
func (c *Cache) present() (*Snapshot, error) {
	// The order of these loads matters: if there still is a snapshot, no change up to rev has
	// touched this cache since it was made.
	rev := c.follower.Revision()
	if s := c.state.snap.Load(); s != nil {
		if s.rev >= rev {
			return s, nil
		}
		later := *s
		later.rev = rev
		c.state.snap.CompareAndSwap(s, &later)
		return &later, nil
	}
	c.follower.Lock() // no batch is half applied
	defer c.follower.Unlock()
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	if c.state.mu.err != nil {
		return nil, c.state.mu.err
	}
	s := c.state.snapshot(c.follower.Revision())
	c.state.snap.Store(s)
	return s, nil
}

// expire counts a watcher that has fallen behind the kept history, and returns its error.
func (c *Cache) expire() error {
	c.expired.Add(1)
	return fmt.Errorf("%s: the watcher is behind the kept history: %w", c.resource.opts.Resource, storage.ErrCompacted)
}

// pending returns the events in the log of the reader's topic, with the error that follows them if
// the topic has ended.
func (c *Cache) pending(r *topic.Reader) ([]Event, error) {
	c.state.mu.RLock()
	defer c.state.mu.RUnlock()
	view, err := r.Pending()
	if err == topic.ErrBehind {
		err = c.expire()
	}
	return view, err
}
