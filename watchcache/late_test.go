package watchcache_test

import (
	"sync"
	"testing"

	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// lateStore is a store whose cursors are fed over a network: they show only delivered events, and
// events are delivered only up to the wanted revision.
type lateStore struct {
	*memStore
	// held delays the wanted events until it is closed; nil delays no event.
	held chan struct{}
}

func (s *lateStore) Watch(r storage.WatchRequest) (storage.Cursor, error) {
	below, err := s.memStore.Watch(r)
	if err != nil {
		return nil, err
	}
	c := &lateCursor{Cursor: below, store: s, bell: make(chan struct{}, 1)}
	c.mu.shown = r.After
	return c, nil
}

type lateCursor struct {
	storage.Cursor
	store *lateStore
	bell  chan struct{}
	mu    struct {
		sync.Mutex
		shown storage.Revision
	}
	ahead storage.Batch
}

func (c *lateCursor) Bell() <-chan struct{} { return c.bell }

func (c *lateCursor) Next() (storage.Batch, error) {
	b, err := c.Cursor.Next()
	if err != nil {
		return b, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead.Events = append(c.ahead.Events, b.Events...)
	n := 0
	for n < len(c.ahead.Events) && c.ahead.Events[n].Revision() <= c.mu.shown {
		n++
	}
	b = storage.Batch{Events: c.ahead.Events[:n:n], Progress: c.mu.shown}
	c.ahead.Events = c.ahead.Events[n:]
	return b, nil
}

func (c *lateCursor) Want(r storage.Revision) {
	go func() {
		if c.store.held != nil {
			<-c.store.held
		}
		c.mu.Lock()
		c.mu.shown = max(c.mu.shown, min(r, c.store.Revision()))
		c.mu.Unlock()
		select {
		case c.bell <- struct{}{}:
		default:
		}
	}()
}

// TestLatestOfALateStore: a read of Latest waits until the hub has been fed, even if another
// process wrote last, and whether or not the feeder runs.
func TestLatestOfALateStore(t *testing.T) {
	for _, fed := range []bool{false, true} {
		w := &world{t: t, store: newMemStore()}
		hub, err := watchcache.NewHub(&lateStore{memStore: w.store}, watchcache.HubOptions{})
		if err != nil {
			t.Fatal(err)
		}
		w.hub, w.pods = hub, hub.Add(podOptions)
		if fed {
			w.run()
		}
		for _, name := range []string{"a/x", "a/y", "a/z"} {
			rev := w.put(name)
			if o, at, err := w.pods.Get(t.Context(), "a", name[2:], watchcache.ReadAt{}); err != nil || o == nil || at < rev {
				t.Errorf("%s was written at %d, and read as %v at %d, %v", name, rev, o, at, err)
			}
			rev = w.commit(storage.Op{Key: "/elsewhere", Value: []byte("x")})
			if s := w.snapshot(watchcache.ReadAt{}); s.Revision() < rev {
				t.Errorf("%d was written elsewhere, the present is %d", rev, s.Revision())
			}
		}
	}
}

// TestReplayOfALateStore: a watcher that starts before the cache's history waits
// for the store at its bell, and does not spin.
func TestReplayOfALateStore(t *testing.T) {
	w := &world{t: t, store: newMemStore()}
	from := w.put("a/x n1")
	w.put("a/y n1")
	w.delete("a/x")
	store := &lateStore{memStore: w.store, held: make(chan struct{})}
	hub, err := watchcache.NewHub(store, watchcache.HubOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.hub, w.pods = hub, hub.Add(podOptions)
	watcher := w.watch("", from)
	for calls := 0; ; calls++ {
		select {
		case <-watcher.Bell():
		default:
			close(store.held)
			<-watcher.Bell()
			w.expect(watcher, "ADDED a/y@3 on n1", "DELETED a/x@4 on n1")
			return
		}
		if events, _, err := watcher.Next(); err != nil || len(events) > 0 {
			t.Fatalf("before anything was delivered: %v, %v", events, err)
		}
		if calls == 100 {
			t.Fatal("the bell rings on and on for nothing")
		}
	}
}
