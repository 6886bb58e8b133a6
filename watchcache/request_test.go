package watchcache_test

import (
	"context"
	"testing"

	"fairlead.dev/watchcache"
)

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
