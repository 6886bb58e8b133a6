package watchcache

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"fairlead.dev/storage"
)

// Root is the prefix of everything a hub looks at.
const Root = "/registry/"

// HubOptions bound what a hub keeps; the zero value is the defaults.
type HubOptions struct {
	// History is how long each cache keeps changes for watchers; 5 minutes.
	History time.Duration
	// HistoryBytes bounds the changes that each cache keeps; 32 MiB.
	HistoryBytes int
	// FormBytes bounds the other encodings that all objects of the hub keep,
	// counting the objects that are kept alive by it; 32 MiB.
	FormBytes int
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
		stale   bool
		caches  map[string]*Cache
		queue   []*topic
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
	h := &Hub{store: s, opts: o, kick: make(chan struct{}, 1)}
	h.forms.limit = o.FormBytes
	h.mu.caches = map[string]*Cache{}
	rev := s.Revision()
	cursor, err := s.Watch(Root, storage.PrefixEnd(Root), rev)
	if err != nil {
		return nil, err
	}
	h.mu.cursor = cursor
	h.applied.Store(int64(rev))
	return h, nil
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
	kvs, err := h.load(c, h.Revision())
	if errors.Is(err, storage.ErrCompacted) && h.advance(h.store.Revision()) == nil {
		kvs, err = h.load(c, h.Revision())
	}
	if err != nil {
		h.mu.stale = true
		h.lost(err)
		return c
	}
	c.reset(kvs, h.Revision(), time.Now())
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
	c.close()
	h.wakeFeeder()
}

// load reads the keys of one cache.
func (h *Hub) load(c *Cache, rev storage.Revision) ([]*storage.KeyValue, error) {
	r, err := h.store.Range(context.Background(), storage.RangeRequest{
		Start: c.opts.Prefix, End: storage.PrefixEnd(c.opts.Prefix), Revision: rev,
	})
	return r.KVs, err
}

// Run feeds the caches and rings the bells until ctx ends, which is no error,
// or the store is closed (storage.ErrClosed).
func (h *Hub) Run(ctx context.Context) error {
	tick := time.NewTicker(max(h.opts.History/20, time.Second))
	defer tick.Stop()
	for {
		n, bell, err := h.feed()
		if errors.Is(err, storage.ErrClosed) {
			return err
		}
		if n > 0 && ctx.Err() == nil {
			continue
		}
		var retry <-chan time.Time
		if err != nil {
			retry = time.After(retryAfter)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-bell:
		case <-h.kick:
		case <-retry:
		case <-tick.C:
			h.forget()
		}
	}
}

// feed takes one batch and rings the topics that have something new, whoever
// took it in. Ringing needs none of the locks that readers need.
func (h *Hub) feed() (n int, bell <-chan struct{}, err error) {
	h.mu.Lock()
	n, err = h.step()
	queue := h.mu.queue
	h.mu.queue = nil
	for _, t := range queue {
		t.queued = false
	}
	if h.mu.cursor != nil {
		bell = h.mu.cursor.Bell()
	}
	h.mu.Unlock()
	for _, t := range queue {
		t.ring()
	}
	return n, bell, err
}

// forget lets quiet caches drop what is too old.
func (h *Hub) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	for _, c := range h.mu.caches {
		c.mu.Lock()
		c.forget(now.UnixNano())
		c.forgetOlds(now)
		c.mu.Unlock()
	}
}

// step applies one batch, and publishes it when all of it is applied. It
// returns the number of events.
func (h *Hub) step() (int, error) {
	if err := h.follow(); err != nil {
		return 0, err
	}
	b, err := h.mu.cursor.Next()
	if err != nil {
		h.lost(err)
		return 0, h.follow()
	}
	if len(b.Events) > 0 {
		now := time.Now().UnixNano()
		for i := range b.Events {
			ev := &b.Events[i]
			if c := h.cacheOf(ev.KV.Key); c != nil {
				c.apply(ev, now)
			}
		}
	}
	h.publish(b.Progress)
	return len(b.Events), nil
}

// advance applies batches until target or the present end of the log.
func (h *Hub) advance(target storage.Revision) error {
	for h.Revision() < target {
		n, err := h.step()
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
	}
	return nil
}

// cacheOf finds the cache of a key: the one with the longest prefix.
func (h *Hub) cacheOf(key string) *Cache {
	for i := strings.LastIndexByte(key, '/'); i >= 0; i = strings.LastIndexByte(key[:i], '/') {
		if c := h.mu.caches[key[:i+1]]; c != nil {
			return c
		}
	}
	return nil
}

// publish makes everything up to rev visible to watchers and to those who wait.
func (h *Hub) publish(rev storage.Revision) {
	if rev <= h.Revision() {
		return
	}
	h.applied.Store(int64(rev))
	kept := h.mu.waiters[:0]
	for _, w := range h.mu.waiters {
		if w.rev <= rev {
			close(w.done)
		} else {
			kept = append(kept, w)
		}
	}
	clear(h.mu.waiters[len(kept):])
	h.mu.waiters = kept
}

// queue leaves a topic for the feeder to ring.
func (h *Hub) queue(t *topic) {
	if !t.queued {
		t.queued = true
		h.mu.queue = append(h.mu.queue, t)
	}
}

func (h *Hub) wakeFeeder() {
	select {
	case h.kick <- struct{}{}:
	default:
	}
}

// HubStats are for metrics.
type HubStats struct {
	// Revision is Hub.Revision; Behind is how much further the store is.
	Revision storage.Revision
	Behind   int64
	// FormBytes is what the kept forms take, with their objects.
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

const endOfLog = storage.Revision(math.MaxInt64)
