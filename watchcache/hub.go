package watchcache

import (
	"context"
	"errors"
	"time"

	"fairlead.dev/internal/watchcache/follow"
	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/storage"
)

// Root is the prefix of all keys that a hub reads.
const Root = "/registry/"

// A Hub feeds the caches of all resources from one cursor of the store.
type Hub struct {
	store     storage.Store
	opts      HubOptions
	follower  *follow.Follower
	backlog   backlog
	encodings *object.Encodings
}

// NewHub returns a hub without caches at the store's current revision. Its readers work at once;
// its watchers' bells need Run.
func NewHub(s storage.Store, o HubOptions) (*Hub, error) {
	f, err := follow.New(s, Root)
	if err != nil {
		return nil, err
	}
	h := &Hub{store: s, opts: o.withDefaults(), follower: f}
	if o.Begin != nil {
		h.encodings = o.Begin.encodings
	} else {
		h.encodings = &object.Encodings{Limit: h.opts.EncodingBytes}
	}
	return h, nil
}

// Err returns why caches are incomplete or do not follow the store: the store cannot be followed,
// or some caches could not be loaded. It is nil when all is well.
func (h *Hub) Err() error { return h.follower.Err() }

// Revision returns the revision up to which all caches are complete.
func (h *Hub) Revision() storage.Revision { return h.follower.Revision() }

// WaitFor returns once the caches are complete up to rev. It applies the events that the store has
// itself, and waits only for revisions that the store does not have yet: up to 3 seconds, then it
// fails with a *TooNewError. Other errors: storage.ErrUnavailable, storage.ErrClosed, the
// context's.
func (h *Hub) WaitFor(ctx context.Context, rev storage.Revision) error {
	return h.follower.WaitFor(ctx, rev)
}

// Add makes the cache of a resource and loads it. If the store fails, the cache's readers get its
// error until it can be loaded.
func (h *Hub) Add(o Options) *Cache {
	c := &Cache{store: h.store, follower: h.follower}
	if h.opts.Reads != nil {
		c.store = h.opts.Reads(h.store, o.Group, o.Resource)
	}
	begin := h.opts.Begin.of(&o)
	c.resource.init(o, h, begin)
	c.resource.noteMiss = c.state.noteMiss
	c.state.init(&c.resource, h.store, &h.opts, &h.backlog, begin)
	h.follower.Add(o.Prefix, &c.state)
	return c
}

// Begun ends the use of HubOptions.Begin, which is then no longer kept in memory. No Add may run meanwhile.
func (h *Hub) Begun() { h.opts.Begin = nil }

// Remove ends the cache: its watchers and readers get storage.ErrClosed.
func (h *Hub) Remove(c *Cache) { h.follower.Remove(c.resource.opts.Prefix, &c.state) }

// Run feeds the caches and rings the bells until ctx ends, which is no error, or the store is
// closed (storage.ErrClosed).
func (h *Hub) Run(ctx context.Context) error {
	every := max(h.opts.History/20, time.Second)
	tick := time.NewTicker(every)
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
			retry = time.After(follow.RetryAfter)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-bell:
		case <-h.follower.Woken():
		case <-retry:
		case <-tick.C:
			now := time.Now()
			h.follower.Expire(now)
			h.encodings.Sweep(now, every)
		}
	}
}

// feed applies one batch and rings the topics with new events, including those that a reader has
// applied. Ringing does not take the locks that readers need. n is above 0 if there may be more to do.
func (h *Hub) feed() (n int, bell <-chan struct{}, err error) {
	h.follower.Lock()
	n, bell, err = h.follower.Feed()
	topics, packs := h.backlog.take()
	h.follower.Unlock()
	for _, t := range topics {
		t.Ring()
	}
	for _, s := range packs {
		if s.pack(time.Now()) {
			h.follower.Lock()
			h.backlog.pack(s)
			h.follower.Unlock()
			n++ // the caller must not wait
		}
	}
	return n, bell, err
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
		Rebuilds:      h.follower.Rebuilds(),
	}
}
