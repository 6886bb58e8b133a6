package watchcache

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/storage"
	"fairlead.dev/trace"
)

// Root is the prefix of all keys that a hub reads.
const Root = "/registry/"

// HubOptions bound the memory of a hub; zero values mean the defaults.
type HubOptions struct {
	// History is how long each cache keeps changes for watchers; 5 minutes.
	History time.Duration
	// HistoryBytes bounds the changes that each cache keeps; 32 MiB.
	HistoryBytes int
	// EncodingBytes bounds the other encodings of all objects of the hub, with the objects of
	// events that they keep alive; 32 MiB.
	EncodingBytes int
	// Trace, if not nil, records each event and when it can be read.
	Trace *trace.Log
	// Log, if not nil, logs stored values that are unreadable.
	Log *slog.Logger
}

// A Hub feeds the caches of all resources from one cursor of the store.
type Hub struct {
	store     storage.Store
	opts      HubOptions
	encodings object.Encodings
	// applied is the revision up to which every cache is complete.
	applied  atomic.Int64
	rebuilds atomic.Int64
	// kick wakes the feeder when a reader has left work for it.
	kick chan struct{}

	// mu is taken before Cache.mu.
	mu struct {
		sync.Mutex
		// cursor is nil while the store cannot be followed, for the reason err.
		cursor  storage.Cursor
		err     error
		retryAt time.Time
		// stale: caches must be loaded again before the next event.
		stale bool
		// unloaded are caches that could not be loaded when they were added.
		unloaded []*Cache
		caches   map[string]*Cache
		queue    []*topic
		// packs are caches with changes to pack.
		packs   []*Cache
		waiters []*waiter
	}
}

type waiter struct {
	rev  storage.Revision
	done chan struct{}
}

// retryAfter is the pause after a failure of the store.
const retryAfter = 200 * time.Millisecond

// NewHub returns a hub without caches at the store's current revision. Its readers work at once;
// its watchers' bells need Run.
func NewHub(s storage.Store, o HubOptions) (*Hub, error) {
	if o.History == 0 {
		o.History = 5 * time.Minute
	}
	if o.HistoryBytes == 0 {
		o.HistoryBytes = 32 << 20
	}
	if o.EncodingBytes == 0 {
		o.EncodingBytes = 32 << 20
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	h := &Hub{store: s, opts: o, kick: make(chan struct{}, 1)}
	h.encodings.Limit = o.EncodingBytes
	h.mu.caches = map[string]*Cache{}
	rev, err := s.Current(context.Background())
	if err != nil {
		return nil, err
	}
	cursor, err := s.Watch(Root, storage.PrefixEnd(Root), rev)
	if err != nil {
		return nil, err
	}
	h.mu.cursor = cursor
	h.applied.Store(int64(rev))
	return h, nil
}

// Err returns why caches are incomplete or do not follow the store: the store cannot be followed,
// or some caches could not be loaded. It is nil when all is well.
func (h *Hub) Err() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.mu.cursor == nil && h.mu.err != nil:
		return h.mu.err
	case len(h.mu.unloaded) > 0:
		return fmt.Errorf("%d caches not loaded", len(h.mu.unloaded))
	}
	return nil
}

// Revision returns the revision up to which all caches are complete.
func (h *Hub) Revision() storage.Revision { return storage.Revision(h.applied.Load()) }

// Add makes the cache of a resource and loads it. If the store fails, the cache's readers get its
// error until it can be loaded.
func (h *Hub) Add(o Options) *Cache {
	c := newCache(h, o)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mu.caches[o.Prefix] = c
	if h.fill(c) != nil {
		h.mu.unloaded = append(h.mu.unloaded, c)
		h.wakeFeeder()
	}
	return c
}

// Remove ends the cache: its watchers and readers get storage.ErrClosed.
func (h *Hub) Remove(c *Cache) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mu.caches[c.opts.Prefix] != c {
		return
	}
	delete(h.mu.caches, c.opts.Prefix)
	h.mu.unloaded = slices.DeleteFunc(h.mu.unloaded, func(other *Cache) bool { return other == c })
	c.close()
	h.wakeFeeder()
}

// HubStats are figures for metrics.
type HubStats struct {
	// Revision is Hub.Revision; Behind is the distance to the store's revision.
	Revision storage.Revision
	Behind   int64
	// EncodingBytes is the size of the kept encodings, as HubOptions counts them.
	EncodingBytes int64
	// Rebuilds counts how often all caches had to be loaded again.
	Rebuilds int64
}

// Stats returns the current figures.
func (h *Hub) Stats() HubStats {
	rev := h.Revision()
	return HubStats{
		Revision:      rev,
		Behind:        max(0, int64(h.store.Revision()-rev)),
		EncodingBytes: h.encodings.Size(),
		Rebuilds:      h.rebuilds.Load(),
	}
}
