package watchcache_test

import (
	"context"
	"testing"

	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// behindStore is a late store that knows the revisions only up to one of the writes.
type behindStore struct {
	*lateStore
	known storage.Revision
}

func (s *behindStore) Revision() storage.Revision { return s.known }

// TestTrust: a request that trusts reads what its process knows, until it rechecks or has tried to write.
func TestTrust(t *testing.T) {
	w := &world{t: t, store: newMemStore()}
	first := w.put("default/a")
	store := &behindStore{&lateStore{memStore: w.store}, first}
	hub, err := watchcache.NewHub(store, watchcache.HubOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.hub, w.pods = hub, hub.Add(podOptions)
	read := func(ctx context.Context, want storage.Revision) {
		t.Helper()
		o, _, err := w.pods.Get(ctx, "default", "a", watchcache.ReadAt{Match: watchcache.Request})
		if err != nil || o.Revision() != want {
			t.Fatalf("read %v, %v, want revision %d", o, err, want)
		}
	}
	trusting := func() context.Context {
		ctx := watchcache.WithRequest(t.Context())
		watchcache.Trust(ctx)
		return ctx
	}
	recheck := func(ctx context.Context, when string, want bool) {
		t.Helper()
		if got := watchcache.Recheck(ctx); got != want {
			t.Errorf("%s: the cache is behind: %v", when, got)
		}
	}
	second := w.put("default/a")
	ctx := trusting()
	read(ctx, first)
	recheck(ctx, "after a write of another", true)
	read(ctx, second)
	recheck(ctx, "after a check", false)

	ctx = trusting()
	store.known = second
	read(ctx, second)
	recheck(ctx, "without a write", false)

	ctx = trusting()
	third := w.put("default/a")
	read(ctx, second)
	watchcache.Wrote(ctx)
	read(ctx, third)
	recheck(ctx, "after a commit", false)

	ctx = trusting()
	store.known = third
	read(ctx, third)
	w.store.mu.Lock()
	w.store.mu.down = storage.ErrUnavailable
	w.store.mu.Unlock()
	recheck(ctx, "while the store does not answer", true)
	if _, _, err := w.pods.Get(ctx, "default", "a", watchcache.ReadAt{Match: watchcache.Request}); err == nil {
		t.Error("a read succeeds without the store's answer")
	}

	watchcache.Trust(t.Context())
	recheck(t.Context(), "without a request", false)
}

// TestRequestReads checks that a request asks the store once, and again after it tried to write.
func TestRequestReads(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{})
	first := w.put("default/a")
	asked := func() int {
		w.store.mu.Lock()
		defer w.store.mu.Unlock()
		return w.store.mu.asked
	}
	began := asked()
	read := func(ctx context.Context, m watchcache.Match, want int) *watchcache.Object {
		t.Helper()
		o, _, err := w.pods.Get(ctx, "default", "a", watchcache.ReadAt{Match: m})
		if err != nil {
			t.Fatal(err)
		}
		if got := asked() - began; got != want {
			t.Fatalf("the store was asked %d times, want %d", got, want)
		}
		return o
	}
	ctx := watchcache.WithRequest(t.Context())
	for range 3 {
		if o := read(ctx, watchcache.Request, 1); o == nil || o.Revision() != first {
			t.Fatalf("read %v, want revision %d", o, first)
		}
	}
	second := w.put("default/a")
	read(ctx, watchcache.Request, 1)
	watchcache.Wrote(ctx)
	for range 2 {
		if o := read(ctx, watchcache.Request, 2); o.Revision() != second {
			t.Fatalf("after the commit: revision %d, want %d", o.Revision(), second)
		}
	}
	inner := watchcache.WithRequest(ctx) // that of a request which this one sends
	read(inner, watchcache.Request, 3)
	read(ctx, watchcache.Request, 3)
	watchcache.Wrote(inner)
	read(ctx, watchcache.Request, 4)
	third := w.put("default/a")
	if o := read(ctx, watchcache.Latest, 5); o.Revision() != third {
		t.Fatalf("the latest: revision %d, want %d", o.Revision(), third)
	}
	read(watchcache.WithRequest(t.Context()), watchcache.Request, 6)
	read(t.Context(), watchcache.Request, 7)
	read(t.Context(), watchcache.Request, 8)
}
