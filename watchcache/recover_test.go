package watchcache_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
	"fairlead.dev/watchcache"
)

func TestOutageIsNotNoticedByWatchers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, watchcache.HubOptions{})
		w.run()
		watcher := w.watch("", 0)
		w.put("a/x")
		<-watcher.Bell()
		w.store.fail(storage.ErrUnavailable)
		synctest.Wait()
		w.expect(watcher, "ADDED a/x@2")
		if got := names(w.snapshot(watchcache.ReadAt{Match: watchcache.Any}), watchcache.Selection{}, "", 0); got != "a/x@2" {
			t.Errorf("Any during the outage: %s", got)
		}
		w.store.fail(nil)
		w.put("a/y")
		<-watcher.Bell()
		w.expect(watcher, "ADDED a/y@3")
		if got := w.hub.Stats().Rebuilds; got != 0 {
			t.Errorf("%d rebuilds, want none", got)
		}
	})
}

func TestHubBehindCompactionRebuilds(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{})
	w.put("a/x")
	w.sync()
	watcher := w.watch("", 0)
	old := w.snapshot(watchcache.ReadAt{})
	w.put("a/y")
	w.delete("a/x")
	w.put("a/z")
	w.store.Compact(context.Background(), w.store.Revision())
	if got := names(w.snapshot(watchcache.ReadAt{}), watchcache.Selection{}, "", 0); got != "a/y@3 a/z@5" {
		t.Errorf("after the rebuild: %s", got)
	}
	if _, _, err := watcher.Next(); !errors.Is(err, storage.ErrCompacted) {
		t.Errorf("watcher across a rebuild: %v, want ErrCompacted", err)
	}
	if got := names(old, watchcache.Selection{}, "", 0); got != "a/x@2" {
		t.Errorf("old snapshot: %s", got)
	}
	if got := w.hub.Stats().Rebuilds; got != 1 {
		t.Errorf("%d rebuilds, want 1", got)
	}
	again := w.watch("", 0)
	w.put("a/w")
	w.sync()
	w.expect(again, "ADDED a/w@6")
}

func TestStoreCloses(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{})
	watcher := w.watch("", 0)
	done := make(chan error, 1)
	go func() { done <- w.hub.Run(context.Background()) }()
	w.store.Close()
	if err := <-done; !errors.Is(err, storage.ErrClosed) {
		t.Errorf("Run: %v", err)
	}
	if _, _, err := watcher.Next(); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("Next: %v", err)
	}
	if _, err := w.pods.Snapshot(context.Background(), watchcache.ReadAt{}); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("Snapshot: %v", err)
	}
}

func TestRemoveEndsACache(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{})
	w.run()
	watcher := w.watch("", 0)
	w.put("a/x")
	w.sync()
	w.hub.Remove(w.pods)
	<-watcher.Bell()
	if events, _, err := watcher.Next(); err != nil || len(events) != 1 {
		t.Errorf("what came before the end: %v, %v", events, err)
	}
	<-watcher.Bell()
	if _, _, err := watcher.Next(); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("Next: %v", err)
	}
	if _, _, err := w.pods.Get(context.Background(), "a", "x", watchcache.ReadAt{}); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("Get: %v", err)
	}
	w.put("a/y")
	again := w.hub.Add(podOptions)
	s, err := again.Snapshot(context.Background(), watchcache.ReadAt{})
	if err != nil || s.Len() != 2 {
		t.Errorf("a new cache of the same prefix: %v, %v", s, err)
	}
}

func TestAddWhileTheStoreIsDown(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{})
	w.put("a/x")
	w.store.fail(storage.ErrUnavailable)
	nodes := w.hub.Add(watchcache.Options{Prefix: "/registry/minions/", Resource: "nodes"})
	if _, err := nodes.Snapshot(context.Background(), watchcache.ReadAt{Match: watchcache.Any}); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("a cache that could not be loaded: %v", err)
	}
	w.store.fail(nil)
	w.run()
	w.commit(storage.Op{Key: "/registry/minions/n1", Value: []byte(`{"metadata":{"name":"n1"}}`)})
	s, err := nodes.Snapshot(context.Background(), watchcache.ReadAt{Match: watchcache.NotOlder, Revision: w.store.Revision()})
	if err != nil || s.Len() != 1 {
		t.Errorf("once the store is back: %v, %v", s, err)
	}
}

// TestWatchersGoOnAcrossRestart: the store has the history, so the new process
// has it too.
func TestWatchersGoOnAcrossRestart(t *testing.T) {
	dir := t.TempDir()
	open := func() (*local.Store, *watchcache.Cache) {
		s, err := local.Open(dir, local.Options{})
		if err != nil {
			t.Fatal(err)
		}
		hub, err := watchcache.NewHub(s, watchcache.HubOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return s, hub.Add(podOptions)
	}
	commit := func(s *local.Store, ops ...storage.Op) storage.Revision {
		r, err := s.Commit(t.Context(), storage.Txn{Then: ops})
		if err != nil {
			t.Fatal(err)
		}
		return r.Revision
	}
	s, _ := open()
	seen := commit(s, put("a/x n1"))
	commit(s, put("a/x n2"))
	commit(s, storage.Op{Type: storage.Delete, Key: "/registry/pods/a/x"}, put("a/y n1"))
	s.Close()

	s, pods := open()
	defer s.Close()
	watcher, err := pods.Watch(t.Context(), ownNode("n1"), seen)
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Close()
	commit(s, put("a/z n1"))
	// The watcher is behind, not the cache.
	if _, err := pods.Snapshot(t.Context(), watchcache.ReadAt{}); err != nil {
		t.Fatal(err)
	}
	events, _ := drain(t, watcher)
	if got, want := transcript(t, events), "DELETED a/x@3 on n1\nADDED a/y@4 on n1\nADDED a/z@5 on n1"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
