package watchcache

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"fairlead.dev/storage"
)

// Run feeds the caches and rings the bells until ctx ends, which is no error, or the store is
// closed (storage.ErrClosed).
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
			h.encodings.Sweep()
		}
	}
}

// feed applies one batch and rings the topics with new events, including those that a reader has
// applied. Ringing does not take the locks that readers need.
func (h *Hub) feed() (n int, bell <-chan struct{}, err error) {
	h.mu.Lock()
	n, err = h.step()
	if err == nil {
		err = h.loadMissing()
	}
	queue, packs := h.mu.queue, h.mu.packs
	h.mu.queue, h.mu.packs = nil, nil
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
	for _, c := range packs {
		c.pack()
	}
	return n, bell, err
}

// forget drops changes that are too old from caches that receive no events.
func (h *Hub) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	for _, c := range h.mu.caches {
		c.mu.Lock()
		c.forget(now.UnixNano())
		c.forgetPastSnapshots(now)
		c.mu.Unlock()
	}
}

// step applies one batch, and publishes it when all of it is applied. It returns the number of
// events.
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

// want makes the cursor advance to rev and ring its bell, even if no event of ours occurs there. A
// cursor that is opened later is asked again.
func (h *Hub) want(rev storage.Revision) {
	if h.mu.cursor != nil {
		h.mu.cursor.Want(rev)
	}
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

// publish makes all events up to rev visible to watchers and to waiters.
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

// queuePack leaves a cache for the feeder to pack.
func (h *Hub) queuePack(c *Cache) {
	if !slices.Contains(h.mu.packs, c) {
		h.mu.packs = append(h.mu.packs, c)
	}
}

func (h *Hub) wakeFeeder() {
	select {
	case h.kick <- struct{}{}:
	default:
	}
}
