package watchcache_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	objects "fairlead.dev/internal/watchcache/object"
	"fairlead.dev/watchcache"
)

// begun returns a world whose store has the two pods of begin, and whose hub begins with contents.
func begun(t testing.TB, contents *watchcache.Contents) *world {
	w := &world{t: t, store: newMemStore()}
	w.put("a/x n1")
	w.put("a/y n2 - Running")
	w.open(watchcache.HubOptions{Begin: contents})
	return w
}

func contentsOf(w *world) *watchcache.Contents {
	return w.hub.ContentsOf(context.Background(), w.store.Revision(), map[string]*watchcache.Cache{podOptions.Prefix: w.pods})
}

// TestContents checks that hubs that begin with the contents of another share its objects, and that neither sees a change
// of another, nor one of the first hub.
func TestContents(t *testing.T) {
	first := begun(t, nil)
	contents := contentsOf(first)
	begin := first.store.Revision()
	shared := one(first.snapshot(watchcache.ReadAt{}), "a", "x")
	first.delete("a/x")

	var forks sync.WaitGroup
	for i := range 8 {
		forks.Go(func() {
			w := begun(t, contents)
			before := w.snapshot(watchcache.ReadAt{})
			if one(before, "a", "x") != shared {
				t.Error("a/x is not the object of the first hub")
			}
			seen := w.watch("ns=a", begin)
			own := fmt.Sprintf("a/own-%d n1", i)
			w.put(own)
			w.delete("a/y")
			w.sync()
			after := w.snapshot(watchcache.ReadAt{})
			if got, want := names(after, sel(t, "fields=spec.nodeName=n1"), "", 0), fmt.Sprintf("a/own-%d@%d a/x@%d", i, begin+1, begin-1); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			if got, want := names(before, watchcache.Selection{}, "", 0), fmt.Sprintf("a/x@%d a/y@%d", begin-1, begin); got != want {
				t.Errorf("before: got %s, want %s", got, want)
			}
			w.expect(seen, fmt.Sprintf("ADDED a/own-%d@%d on n1", i, begin+1), fmt.Sprintf("DELETED a/y@%d on n2", begin+2))
		})
	}
	forks.Wait()
	if got, want := names(first.snapshot(watchcache.ReadAt{}), watchcache.Selection{}, "", 0), fmt.Sprintf("a/y@%d", begin); got != want {
		t.Errorf("the first hub: got %s, want %s", got, want)
	}
}

// TestContentsOfAnotherState checks that a hub whose store has gone on reads the store.
func TestContentsOfAnotherState(t *testing.T) {
	contents := contentsOf(begun(t, nil))
	w := &world{t: t, store: newMemStore()}
	w.put("a/x n1")
	w.put("a/y n2 - Running")
	w.put("a/z n1")
	w.open(watchcache.HubOptions{Begin: contents})
	if got := w.snapshot(watchcache.ReadAt{}).Len(); got != 3 {
		t.Errorf("got %d pods, want 3", got)
	}
}

// TestContentsOfAnotherKind checks that a cache with other selectable fields reads the store: it finds its objects by them.
func TestContentsOfAnotherKind(t *testing.T) {
	contents := contentsOf(begun(t, nil))
	w := &world{t: t, store: newMemStore()}
	w.put("a/x n1")
	w.put("a/y n2 - Running")
	hub, err := watchcache.NewHub(w.store, watchcache.HubOptions{Begin: contents})
	if err != nil {
		t.Fatal(err)
	}
	o := podOptions
	o.Fields = []watchcache.Field{{Label: "uid", Paths: [][]string{{"metadata", "uid"}}}}
	o.IndexFields = nil
	w.hub, w.pods = hub, hub.Add(o)
	if got := names(w.snapshot(watchcache.ReadAt{}), sel(t, "fields=uid=uid-y"), "", 0); got != fmt.Sprintf("a/y@%d", w.store.Revision()) {
		t.Errorf("got %q, want a/y", got)
	}
}

// TestContentsStayWhole checks that a hub which replaces a shared object does not pack it: others would then need its
// successors to read it.
func TestContentsStayWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		origin := newWorld(t, watchcache.HubOptions{})
		at := origin.commit(large("a/p", 0))
		contents := contentsOf(origin)
		shared := one(origin.snapshot(watchcache.ReadAt{}), "a", "p")
		fork := &world{t: t, store: newMemStore()}
		if rev := fork.commit(large("a/p", 0)); rev != at {
			t.Fatalf("the fork begins at %d, want %d", rev, at)
		}
		fork.open(watchcache.HubOptions{Begin: contents})
		if one(fork.snapshot(watchcache.ReadAt{}), "a", "p") != shared {
			t.Fatal("the object is not shared")
		}
		for _, w := range []*world{origin, fork} {
			stop := w.feed()
			replaced := w.snapshot(watchcache.ReadAt{Match: watchcache.NotOlder, Revision: w.commit(large("a/p", 1))})
			for i := range 2000 {
				w.commit(large("a/p", i+2))
			}
			synctest.Wait()
			second := one(replaced, "a", "p")
			if objects.StoredSize(second) >= len(second.Value()) {
				t.Error("the history is not packed")
			}
			stop()
		}
		if got, want := objects.StoredSize(shared), len(shared.Value()); got != want {
			t.Errorf("the shared object is held in %d bytes, want %d", got, want)
		}
	})
}

// TestBegun checks that a cache which is added after Begun reads the store.
func TestBegun(t *testing.T) {
	first := begun(t, nil)
	w := begun(t, contentsOf(first))
	w.hub.Begun()
	w.hub.Remove(w.pods)
	w.pods = w.hub.Add(podOptions)
	s := w.snapshot(watchcache.ReadAt{})
	if s.Len() != 2 || one(s, "a", "x") == one(first.snapshot(watchcache.ReadAt{}), "a", "x") {
		t.Errorf("%d pods, one of them shared", s.Len())
	}
}
