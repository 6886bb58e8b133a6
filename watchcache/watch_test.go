package watchcache_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// TestSelectorEdges tells one history to every kind of selection.
func TestSelectorEdges(t *testing.T) {
	cases := []struct {
		sel  string
		want []string
	}{
		{"", []string{
			"ADDED a/x@2", "MODIFIED a/x@3 on n1", "MODIFIED a/x@4 on n2", "ADDED b/y@5 on n1",
			"MODIFIED a/x@6 on n2", "DELETED a/x@7 on n2", "ADDED a/x@8 on n1",
		}},
		{"ns=a", []string{
			"ADDED a/x@2", "MODIFIED a/x@3 on n1", "MODIFIED a/x@4 on n2",
			"MODIFIED a/x@6 on n2", "DELETED a/x@7 on n2", "ADDED a/x@8 on n1",
		}},
		{"ns=b name=y", []string{"ADDED b/y@5 on n1"}},
		{"ns=b fields=metadata.name=y", []string{"ADDED b/y@5 on n1"}},
		{"fields=metadata.name=y,metadata.namespace=b", []string{"ADDED b/y@5 on n1"}},
		{"fields=metadata.name=y", []string{"ADDED b/y@5 on n1"}},
		{"ns=a fields=metadata.namespace=b", nil},
		{"fields=metadata.namespace!=a", []string{"ADDED b/y@5 on n1"}},
		{"fields=spec.nodeName=", []string{"ADDED a/x@2", "DELETED a/x@3"}},
		{"fields=spec.nodeName=n1", []string{
			"ADDED a/x@3 on n1", "DELETED a/x@4 on n1", "ADDED b/y@5 on n1", "ADDED a/x@8 on n1",
		}},
		{"fields=spec.nodeName!=n1", []string{
			"ADDED a/x@2", "DELETED a/x@3", "ADDED a/x@4 on n2", "MODIFIED a/x@6 on n2", "DELETED a/x@7 on n2",
		}},
		{"ns=b fields=spec.nodeName=n1", []string{"ADDED b/y@5 on n1"}},
		{"fields=spec.nodeName=n1,spec.nodeName=n2", nil},
		{"fields=status.phase=Running", []string{"ADDED a/x@6 on n2", "DELETED a/x@7 on n2"}},
		{"fields=status.phase!=Running", []string{
			"ADDED a/x@2", "MODIFIED a/x@3 on n1", "MODIFIED a/x@4 on n2", "ADDED b/y@5 on n1",
			"DELETED a/x@6 on n2", "ADDED a/x@8 on n1",
		}},
		{"labels=app=web", []string{"ADDED a/x@2", "MODIFIED a/x@3 on n1", "DELETED a/x@4 on n1", "ADDED a/x@8 on n1"}},
		{"labels=app", []string{
			"ADDED a/x@2", "MODIFIED a/x@3 on n1", "MODIFIED a/x@4 on n2",
			"MODIFIED a/x@6 on n2", "DELETED a/x@7 on n2", "ADDED a/x@8 on n1",
		}},
		{"labels=!app", []string{"ADDED b/y@5 on n1"}},
		{"labels=app!=web", []string{
			"ADDED a/x@4 on n2", "ADDED b/y@5 on n1", "MODIFIED a/x@6 on n2", "DELETED a/x@7 on n2",
		}},
		{"labels=app=db fields=spec.nodeName=n2", []string{"ADDED a/x@4 on n2", "MODIFIED a/x@6 on n2", "DELETED a/x@7 on n2"}},
		{"ns=a name=x labels=app=web", []string{"ADDED a/x@2", "MODIFIED a/x@3 on n1", "DELETED a/x@4 on n1", "ADDED a/x@8 on n1"}},
	}
	history := func(w *world) {
		w.put("a/x - app=web")
		w.put("a/x n1 app=web")
		w.put("a/x n2 app=db")
		w.put("b/y n1")
		w.put("a/x n2 app=db Running")
		w.delete("a/x")
		w.put("a/x n1 app=web")
		w.sync()
	}
	type start struct {
		name string
		// open returns the watcher, positioned before the history, once the
		// history has happened.
		open func(w *world, sel string) *watchcache.Watcher
	}
	starts := []start{
		{"live", func(w *world, sel string) *watchcache.Watcher {
			watcher := w.watch(sel, 0)
			history(w)
			return watcher
		}},
		{"live from a revision ahead", func(w *world, sel string) *watchcache.Watcher {
			watcher := w.watch(sel, 1)
			history(w)
			return watcher
		}},
		{"ring", func(w *world, sel string) *watchcache.Watcher {
			history(w)
			return w.watch(sel, 1)
		}},
		{"topic", func(w *world, sel string) *watchcache.Watcher {
			w.watch(sel, 1)
			history(w)
			return w.watch(sel, 1)
		}},
		{"store, as after a restart", func(w *world, sel string) *watchcache.Watcher {
			history(w)
			w.open(watchcache.HubOptions{})
			return w.watch(sel, 1)
		}},
	}
	for _, s := range starts {
		t.Run(s.name, func(t *testing.T) {
			for _, c := range cases {
				t.Run(c.sel, func(t *testing.T) {
					w := newWorld(t, watchcache.HubOptions{})
					w.expect(s.open(w, c.sel), c.want...)
				})
			}
		})
	}
}

func TestWatchStartsExactlyAfter(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{})
	for i := range 5 {
		w.put(fmt.Sprintf("a/p%d", i)) // revisions 2 to 6
	}
	w.sync()
	for after := storage.Revision(1); after <= 8; after++ {
		watcher := w.watch("", after)
		events, progress := drain(t, watcher)
		if want := max(0, 6-int(after)); len(events) != want {
			t.Errorf("after %d: %d events, want %d", after, len(events), want)
		}
		if want := max(after, 6); progress != want {
			t.Errorf("after %d: progress %d, want %d", after, progress, want)
		}
	}
	ahead := w.watch("", 8)
	w.put("a/p7") // 7
	w.put("a/p8") // 8
	w.put("a/p9") // 9
	w.sync()
	w.expect(ahead, "ADDED a/p9@9")
}

func TestTransactionIsNotSplit(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{})
	watcher := w.watch("", 0)
	var ops []storage.Op
	for i := range 1000 {
		ops = append(ops, put(fmt.Sprintf("a/p%d", i)))
	}
	rev := w.commit(ops...)
	w.sync()
	w.put("a/later")
	w.sync()
	replayed := w.watch("", rev-1)
	w.open(watchcache.HubOptions{})
	for name, watcher := range map[string]*watchcache.Watcher{"topic": watcher, "ring": replayed, "store": w.watch("", rev-1)} {
		evs, progress, err := watcher.Next()
		if err != nil || len(evs) != len(ops) || progress != rev {
			t.Errorf("%s: %d events to %d, %v; want %d to %d", name, len(evs), progress, err, len(ops), rev)
		}
		w.expect(watcher, "ADDED a/later@3")
	}
}

func TestSlowWatcherExpires(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{HistoryBytes: 4 << 10})
	start := w.store.Revision()
	slow, other := w.watch("", 0), w.watch("fields=spec.nodeName=n1", 0)
	w.put("b/mine n1")
	for range 200 {
		w.put("a/x n2")
		w.sync()
	}
	if _, _, err := slow.Next(); !errors.Is(err, storage.ErrCompacted) {
		t.Errorf("slow watcher: %v, want ErrCompacted", err)
	}
	if _, _, err := other.Next(); !errors.Is(err, storage.ErrCompacted) {
		t.Errorf("watcher whose one event has left the history: %v, want ErrCompacted", err)
	}
	idle := w.watch("fields=spec.nodeName=n1", 0)
	for range 200 {
		w.put("a/x n2")
		w.sync()
	}
	w.expect(idle)
	stats := w.pods.Stats()
	if stats.EventBytes > 4<<10 || stats.Expired != 2 {
		t.Errorf("stats %+v: want at most 4096 bytes and 2 expired", stats)
	}

	// The store still has the changes that the ring has dropped, until they are compacted.
	events, _ := drain(t, w.watch("", start))
	if len(events) != 401 {
		t.Errorf("from the store: %d events, want 401", len(events))
	}
	w.store.Compact(context.Background(), start+10)
	if _, err := w.pods.Watch(context.Background(), watchcache.Selection{}, start); !errors.Is(err, storage.ErrCompacted) {
		t.Errorf("watch below the compaction: %v, want ErrCompacted", err)
	}
}

func TestTopicsAreSharedAndFreed(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{})
	a, b := w.watch("labels=app,tier!=x", 0), w.watch("labels=tier!=x,app", 0)
	c := w.watch("ns=a", 0)
	if got := w.pods.Stats(); got.Topics != 2 || got.Watchers != 3 {
		t.Errorf("%+v, want 2 topics with 3 watchers", got)
	}
	for _, watcher := range []*watchcache.Watcher{a, b, c, c} {
		watcher.Close()
	}
	if got := w.pods.Stats(); got.Topics != 0 || got.Watchers != 0 {
		t.Errorf("%+v after all have closed", got)
	}
	if _, _, err := a.Next(); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("Next after Close: %v", err)
	}
}

func TestReturningWatcherGoesOn(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{})
	first := w.watch("ns=a", 0)
	w.put("a/x")
	w.sync()
	_, at := drain(t, first)
	first.Close()
	w.put("a/y")
	w.sync()
	w.expect(w.watch("ns=a", at), "ADDED a/y@3")
}

func TestBellRings(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{})
	w.run()
	all, node := w.watch("", 0), w.watch("fields=spec.nodeName=n1", 0)
	w.put("a/x n1")
	<-all.Bell()
	<-node.Bell()
	w.expect(all, "ADDED a/x@2 on n1")
	w.expect(node, "ADDED a/x@2 on n1")
	w.put("a/y n2")
	<-all.Bell()
	select {
	case <-node.Bell():
		t.Error("an event of another node rang the bell")
	default:
	}
}

// TestRingBeforeAnybodyHears: an early ring is kept for the reader, with a channel or a callback.
func TestRingBeforeAnybodyHears(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{})
	heard := w.watch("", 0)
	heard.Ring()
	<-heard.Bell()
	var calls int
	called := w.watch("", 0)
	<-func() <-chan struct{} { called.Ring(); return called.Bell() }()
	called.OnRing(func() { calls++ })
	if called.Ring(); calls < 2 {
		t.Errorf("%d calls for OnRing and a ring, want one for each", calls)
	}
}

func TestEveryBellRingsWhileOthersLeave(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{})
	w.run()
	const n = 2000
	var stay, leave []*watchcache.Watcher
	for i := range n {
		if watcher := w.watch("", 0); i%2 == 0 {
			stay = append(stay, watcher)
		} else {
			leave = append(leave, watcher)
		}
	}
	w.put("a/x")
	for _, watcher := range leave {
		watcher.Close()
	}
	for _, watcher := range stay {
		<-watcher.Bell()
		w.expect(watcher, "ADDED a/x@2")
	}
}

// TestIdleWatcherIsSmall: a hundred thousand of them must be possible.
func TestIdleWatcherIsSmall(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{})
	const n = 20_000
	watchers := make([]*watchcache.Watcher, n)
	before := heap()
	for i := range watchers {
		var err error
		if watchers[i], err = w.pods.Watch(t.Context(), ownNode(fmt.Sprintf("node-%d", i)), 0); err != nil {
			t.Fatal(err)
		}
	}
	if got := (heap() - before) / n; got >= 350 {
		t.Errorf("%d bytes for each, want less than 350", got)
	}
	runtime.KeepAlive(watchers)
}
