package watchcache

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"fairlead.dev/storage"
	"fairlead.dev/trace"
)

// Root is the prefix of everything a hub looks at.
const Root = "/registry/"

// HubOptions bound what a hub keeps; the zero value is the defaults.
type HubOptions struct {
	// History is how long each cache keeps changes for watchers; 5 minutes.
	History time.Duration
	// HistoryBytes bounds the changes that each cache keeps; 32 MiB.
	HistoryBytes int
	// FormBytes bounds the other encodings that all objects of the hub keep, with
	// the objects of events, which it keeps alive; 32 MiB.
	FormBytes int
	// Trace is told what each event is and when it can be read; nil is nobody.
	Trace *trace.Log
	// Log hears of stored values that cannot be read; nil logs nothing.
	Log *slog.Logger
}

// Hub feeds the caches of all resources from one cursor of the store.
type Hub struct {
	store storage.Store
	opts  HubOptions
	forms forms
	// applied is the revision up to which every cache is complete.
	applied  atomic.Int64
	rebuilds atomic.Int64
	// kick wakes the feeder when a reader has left it something to do.
	kick chan struct{}

	// mu stands above Cache.mu.
	mu struct {
		sync.Mutex
		// cursor is nil while the store cannot be followed, for the reason err.
		cursor  storage.Cursor
		err     error
		retryAt time.Time
		// stale: caches have to be loaded again before the next event.
		stale bool
		// unloaded are caches that could not be loaded when they were added.
		unloaded []*Cache
		caches   map[string]*Cache
		queue    []*topic
		// packs are caches with something to pack.
		packs   []*Cache
		waiters []*waiter
	}
}

type waiter struct {
	rev  storage.Revision
	done chan struct{}
}

// retryAfter is how long a store that failed is left alone.
const retryAfter = 200 * time.Millisecond

// NewHub returns a hub that stands at the store's present revision, with no
// caches yet. Its readers work at once; its watchers' bells need Run.
func NewHub(s storage.Store, o HubOptions) (*Hub, error) {
	if o.History == 0 {
		o.History = 5 * time.Minute
	}
	if o.HistoryBytes == 0 {
		o.HistoryBytes = 32 << 20
	}
	if o.FormBytes == 0 {
		o.FormBytes = 32 << 20
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	h := &Hub{store: s, opts: o, kick: make(chan struct{}, 1)}
	h.forms.limit = o.FormBytes
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

// Err returns why caches are not complete or do not follow the store: it cannot be
// followed, or not all of them could be loaded. It is nil in order.
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

// Revision is the revision up to which all caches are complete.
func (h *Hub) Revision() storage.Revision { return storage.Revision(h.applied.Load()) }

// Add makes the cache of a resource and loads it. If the store fails, the
// cache's readers get its error until it can be loaded.
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

// HubStats are for metrics.
type HubStats struct {
	// Revision is Hub.Revision; Behind is how much further the store is.
	Revision storage.Revision
	Behind   int64
	// FormBytes is what the kept forms take, as HubOptions counts them.
	FormBytes int64
	// Rebuilds counts how often all caches had to be loaded again.
	Rebuilds int64
}

// Stats are the present figures.
func (h *Hub) Stats() HubStats {
	rev := h.Revision()
	return HubStats{
		Revision:  rev,
		Behind:    max(0, int64(h.store.Revision()-rev)),
		FormBytes: h.forms.size.Load(),
		Rebuilds:  h.rebuilds.Load(),
	}
}
