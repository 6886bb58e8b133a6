package watchcache_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

func TestReadsSeeWhatWasWritten(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{})
	ctx := context.Background()
	w.put("a/x")
	// No feeder runs: the readers feed the hub.
	o, rev, err := w.pods.Get(ctx, "a", "x", watchcache.ReadAt{})
	if err != nil || o == nil || o.Revision() != 2 || rev != 2 || o.UID() != "uid-x" {
		t.Fatalf("Get: %v at %d, %v", o, rev, err)
	}
	w.put("a/y")
	if o, _, _ := w.pods.Get(ctx, "a", "y", watchcache.ReadAt{Match: watchcache.Any}); o != nil {
		t.Error("Any advanced the hub")
	}
	if got := names(w.snapshot(watchcache.ReadAt{}), watchcache.Selection{}, "", 0); got != "a/x@2 a/y@3" {
		t.Errorf("Latest: %s", got)
	}
	w.delete("a/x")
	if o, rev, err := w.pods.Get(ctx, "a", "x", watchcache.ReadAt{}); o != nil || rev != 4 || err != nil {
		t.Errorf("Get of a deleted object: %v at %d, %v", o, rev, err)
	}
	if o, rev, err := w.pods.Get(ctx, "a", "x", watchcache.ReadAt{Match: watchcache.Exact, Revision: 3}); o == nil || rev != 3 || err != nil {
		t.Errorf("Get of the past: %v at %d, %v", o, rev, err)
	}
}

func TestSnapshotStaysAsItIs(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{})
	for i := range 500 {
		w.put(fmt.Sprintf("a/p%03d", i))
	}
	before := w.snapshot(watchcache.ReadAt{})
	text := names(before, watchcache.Selection{}, "", 0)
	for i := range 500 {
		if i%2 == 0 {
			w.put(fmt.Sprintf("a/p%03d n1", i))
		} else {
			w.delete(fmt.Sprintf("a/p%03d", i))
		}
	}
	after := w.snapshot(watchcache.ReadAt{})
	if names(before, watchcache.Selection{}, "", 0) != text || before.Len() != 500 {
		t.Error("the snapshot changed")
	}
	if after.Len() != 250 || after.Revision() != w.store.Revision() {
		t.Errorf("the later snapshot has %d objects at %d", after.Len(), after.Revision())
	}
	same := w.snapshot(watchcache.ReadAt{})
	if same != after {
		t.Error("a second snapshot was made with no change between")
	}
	w.commit(storage.Op{Key: "/registry/other/x", Value: []byte("{}")})
	if later := w.snapshot(watchcache.ReadAt{}); later.Revision() != w.store.Revision() || later.Len() != 250 {
		t.Errorf("after another resource's change: %d objects at %d", later.Len(), later.Revision())
	}
}

func TestListSelects(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{})
	w.put("a/x n1 app=web")
	w.put("a/y n2 app=web")
	w.put("aa/x n1 app=db")
	w.put("b/x n1 app=web,tier=1")
	w.put("b/y - -")
	s := w.snapshot(watchcache.ReadAt{})
	cases := []struct {
		sel, after string
		limit      int
		want       string
	}{
		{"", "", 0, "a/x@2 a/y@3 aa/x@4 b/x@5 b/y@6"},
		{"", "", 2, "a/x@2 a/y@3"},
		{"", "/registry/pods/a/y", 2, "aa/x@4 b/x@5"},
		{"", "/registry/pods/a/yy", 0, "aa/x@4 b/x@5 b/y@6"},
		{"", "/registry/pods/z", 0, ""},
		{"ns=a", "", 0, "a/x@2 a/y@3"},
		{"ns=a", "/registry/pods/a/x", 0, "a/y@3"},
		{"ns=b", "/registry/pods/a/x", 1, "b/x@5"},
		{"ns=a name=y", "", 0, "a/y@3"},
		{"ns=a name=y", "/registry/pods/a/y", 0, ""},
		{"fields=metadata.name=x", "", 0, "a/x@2 aa/x@4 b/x@5"},
		{"fields=spec.nodeName=n1", "", 0, "a/x@2 aa/x@4 b/x@5"},
		{"fields=spec.nodeName=n1", "/registry/pods/a/x", 1, "aa/x@4"},
		{"ns=b fields=spec.nodeName=n1", "", 0, "b/x@5"},
		{"fields=spec.nodeName=", "", 0, "b/y@6"},
		{"labels=app=web", "", 0, "a/x@2 a/y@3 b/x@5"},
		{"labels=app=web", "/registry/pods/a/x", 1, "a/y@3"},
		{"ns=b labels=app=web", "", 0, "b/x@5"},
		{"labels=!app", "", 0, "b/y@6"},
		{"labels=app=web,app=db", "", 0, ""},
		{"labels=app=web,tier=1", "", 0, "b/x@5"},
	}
	check := func(t *testing.T, s *watchcache.Snapshot) {
		for _, c := range cases {
			got, others, _ := strings.Cut(names(s, sel(t, c.sel), c.after, c.limit), "zz/")
			if strings.TrimSpace(got) != c.want || c.limit > 0 && others != "" {
				t.Errorf("%q after %q limit %d: got %q, want %q", c.sel, c.after, c.limit, got, c.want)
			}
			if c.limit == 0 {
				checkWalk(t, s, sel(t, c.sel), c.after)
				n := 0
				for range list(s, sel(t, c.sel), c.after, 0) {
					n++
				}
				if got := s.Count(sel(t, c.sel), c.after); got != n {
					t.Errorf("%q after %q: count %d, want %d", c.sel, c.after, got, n)
				}
			}
		}
	}
	t.Run("scan", func(t *testing.T) { check(t, s) })

	// Enough objects for indexes, behind all the others in order.
	for i := range 200 {
		w.put(fmt.Sprintf("zz/%03d other app=other", i))
	}
	for range 3 {
		s = w.snapshot(watchcache.ReadAt{})
		check(t, s)
	}
}

// TestListByIndexFollowsChanges compares indexed lists with scans while objects
// change, move and go.
func TestListByIndexFollowsChanges(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{})
	for i := range 1000 {
		spec := fmt.Sprintf("a/p%d n%d app=x%d", i*i%307, i%7, i%5)
		if i%11 == 3 {
			w.delete(fmt.Sprintf("a/p%d", i%307))
		} else {
			w.put(spec)
		}
		if i < 600 || i%50 > 0 {
			continue
		}
		s := w.snapshot(watchcache.ReadAt{})
		for v := range 7 {
			for _, text := range []string{"fields=spec.nodeName=n%d", "labels=app=x%d"} {
				selection := sel(t, fmt.Sprintf(text, v))
				var want []string
				for o := range list(s, watchcache.Selection{}, "", 0) {
					if (selection.Fields == nil || selection.Fields.Matches(o.Fields())) &&
						(selection.Labels == nil || selection.Labels.Matches(o.Labels())) {
						want = append(want, fmt.Sprintf("%s/%s@%d", o.Namespace(), o.Name(), o.Revision()))
					}
				}
				if got := names(s, selection, "", 0); got != strings.Join(want, " ") {
					t.Fatalf("step %d, %s of %d: got %s, want %s", i, text, v, got, strings.Join(want, " "))
				}
			}
		}
	}
}

// TestExactReadsEqualTheStore compares every kept revision with the store,
// from the ring and past its end.
func TestExactReadsEqualTheStore(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{HistoryBytes: 8 << 10})
	for i := range 200 {
		switch {
		case i%5 == 4:
			w.delete(fmt.Sprintf("a/p%d", i%13))
		case i%7 == 0:
			w.commit(put(fmt.Sprintf("a/p%d n1", i%13)), put(fmt.Sprintf("b/p%d n1", i%13)))
		default:
			w.put(fmt.Sprintf("a/p%d n2", i%13))
		}
	}
	last := w.store.Revision()
	w.store.Compact(context.Background(), 20)
	for rev := last; rev >= 20; rev-- {
		s := w.snapshot(watchcache.ReadAt{Match: watchcache.Exact, Revision: rev})
		if s.Revision() != rev {
			t.Fatalf("asked for %d, got %d", rev, s.Revision())
		}
		r, err := w.store.Range(context.Background(), storage.RangeRequest{
			Start: podOptions.Prefix, End: storage.PrefixEnd(podOptions.Prefix), Revision: rev,
		})
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, kv := range r.KVs {
			want = append(want, fmt.Sprintf("%s@%d", kv.Key[len(podOptions.Prefix):], kv.ModRevision))
		}
		if got := names(s, watchcache.Selection{}, "", 0); got != strings.Join(want, " ") {
			t.Fatalf("at %d: got %s, want %s", rev, got, strings.Join(want, " "))
		}
	}
	if w.pods.Stats().Events > 100 {
		t.Error("the ring held everything: reads of the store were not tried")
	}
	if _, err := w.pods.Snapshot(context.Background(), watchcache.ReadAt{Match: watchcache.Exact, Revision: 19}); !errors.Is(err, storage.ErrCompacted) {
		t.Errorf("below the compaction: %v", err)
	}
}

// TestExactReadsEndWithTheHistory: a snapshot that is kept for the next page fails when the store
// has compacted its revision.
func TestExactReadsEndWithTheHistory(t *testing.T) {
	w := newWorld(t, watchcache.HubOptions{})
	w.put("a/x n1")
	page := watchcache.ReadAt{Match: watchcache.Exact, Revision: w.store.Revision()}
	w.put("a/y n1")
	if got := names(w.snapshot(page), watchcache.Selection{}, "", 0); got != "a/x@2" {
		t.Fatalf("a page: %s", got)
	}
	w.store.Compact(t.Context(), w.store.Revision())
	if _, err := w.pods.Snapshot(t.Context(), page); !errors.Is(err, storage.ErrCompacted) {
		t.Errorf("after the compaction: %v", err)
	}
}

func TestRevisionAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, watchcache.HubOptions{})
		w.run()
		for _, m := range []watchcache.Match{watchcache.NotOlder, watchcache.Exact} {
			began := time.Now()
			_, err := w.pods.Snapshot(t.Context(), watchcache.ReadAt{Match: m, Revision: 100})
			var late *watchcache.TooNewError
			if !errors.As(err, &late) || late.Requested != 100 || late.Current != 1 {
				t.Errorf("got %v, want a TooNewError", err)
			}
			if d := time.Since(began); d != 3*time.Second {
				t.Errorf("waited %s, want 3s", d)
			}
		}

		rev := w.store.Revision() + 1
		got := make(chan string)
		go func() {
			got <- names(w.snapshot(watchcache.ReadAt{Match: watchcache.NotOlder, Revision: rev}), watchcache.Selection{}, "", 0)
		}()
		synctest.Wait()
		w.put("a/x")
		if text := <-got; text != "a/x@2" {
			t.Errorf("after the wait: %q", text)
		}
	})
}

func TestHistoryIsBoundedByTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, watchcache.HubOptions{History: time.Minute})
		w.run()
		slow := w.watch("", 0)
		w.put("a/x")
		synctest.Wait()
		if got := w.pods.Stats().Events; got != 1 {
			t.Fatalf("%d events kept, want 1", got)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if got := w.pods.Stats(); got.Events != 0 || got.EventBytes != 0 {
			t.Errorf("after the time: %+v", got)
		}
		if _, _, err := slow.Next(); !errors.Is(err, storage.ErrCompacted) {
			t.Errorf("slow watcher: %v", err)
		}
	})
}

// checkWalk interrupts and resumes a walk after every so many objects, and compares it with a list.
func checkWalk(t *testing.T, s *watchcache.Snapshot, sel watchcache.Selection, after string) {
	t.Helper()
	want := slices.Collect(list(s, sel, after, 0))
	for step := 1; step < 40; step++ {
		w := walk(s, sel, after)
		var got []*watchcache.Object
		for n := -1; n != len(got); {
			n = len(got)
			twin := w
			if rest := slices.Collect(twin.Rest()); !slices.Equal(append(slices.Clone(got), rest...), want) {
				t.Fatalf("a copy after %d yields %d more of %d", n, len(rest), len(want))
			}
			for o := range w.Rest() {
				if got = append(got, o); len(got) == n+step {
					break
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("in steps of %d: %d objects, want %d", step, len(got), len(want))
		}
	}
}
