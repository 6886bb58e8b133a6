package storagetest

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"fairlead.dev/storage"
)

// story prints events in short: "+/a=1@2" for a put, "-/a@3" for a deletion.
func story(events []storage.Event) string {
	var b strings.Builder
	for i, e := range events {
		if i > 0 {
			b.WriteByte(' ')
		}
		if e.Type == storage.Delete {
			fmt.Fprintf(&b, "-%s@%d", e.KV.Key, e.Revision())
		} else {
			fmt.Fprintf(&b, "+%s=%s@%d", e.KV.Key, e.KV.Value, e.Revision())
		}
	}
	return b.String()
}

func wantStory(t testing.TB, events []storage.Event, want string) {
	t.Helper()
	if got := story(events); got != want {
		t.Errorf("events %q, want %q", got, want)
	}
}

func testWatchOrder(t *testing.T, s storage.Store) {
	c := watchAll(t, s, 0)
	commit(t, s, put("/a", "1"))
	commit(t, s, put("/b", "1"), del("/a"))
	wantStory(t, read(t, c, 3), "+/a=1@2 +/b=1@3 -/a@3")
	commit(t, s, put("/a", "2"))
	wantStory(t, read(t, c, 4), "+/a=2@4")
	b, err := c.Next()
	if err != nil || len(b.Events) != 0 || b.Progress != 4 {
		t.Errorf("at the end: %+v, %v", b, err)
	}
}

func testWatchStart(t *testing.T, s storage.Store) {
	for i := range 4 {
		commit(t, s, put("/a", fmt.Sprint(i)))
	}
	wantStory(t, read(t, watchAll(t, s, 1), 5), "+/a=0@2 +/a=1@3 +/a=2@4 +/a=3@5")
	wantStory(t, read(t, watchAll(t, s, 4), 5), "+/a=3@5")
	c := watchAll(t, s, 5)
	now := watchAll(t, s, 0)
	commit(t, s, put("/a", "last"))
	wantStory(t, read(t, c, 6), "+/a=last@6")
	wantStory(t, read(t, now, 6), "+/a=last@6")
}

func testWatchFuture(t *testing.T, s storage.Store) {
	c := watchAll(t, s, 3)
	if b, err := c.Next(); err != nil || len(b.Events) > 0 || b.Progress < 3 {
		t.Fatalf("Next: %+v, %v; its progress begins where it was asked to stand", b, err)
	}
	for i := range 3 {
		commit(t, s, put("/a", fmt.Sprint(i)))
	}
	wantStory(t, read(t, c, 4), "+/a=2@4")
}

func testWatchKey(t *testing.T, s storage.Store) {
	key := watch(t, s, "/a", "", 0)
	part := watch(t, s, "/b", "/d", 0)
	commit(t, s, put("/a", "1"), put("/aa", "1"), put("/b", "1"))
	commit(t, s, put("/c", "1"), put("/d", "1"))
	wantStory(t, read(t, key, 3), "+/a=1@2")
	wantStory(t, read(t, part, 3), "+/b=1@2 +/c=1@3")
}

func testWatchPrev(t *testing.T, s storage.Store) {
	c := watchAll(t, s, 0)
	commit(t, s, put("/a", "1"))
	commit(t, s, put("/a", "2"))
	commit(t, s, del("/a"))
	commit(t, s, put("/a", "3"))
	events := read(t, c, 5)
	if len(events) != 4 {
		t.Fatalf("events %s", story(events))
	}
	one := storage.KeyValue{Key: "/a", Value: []byte("1"), CreateRevision: 2, ModRevision: 2, Version: 1}
	two := storage.KeyValue{Key: "/a", Value: []byte("2"), CreateRevision: 2, ModRevision: 3, Version: 2}
	if events[0].Prev != nil || events[3].Prev != nil {
		t.Errorf("creations have a past: %+v, %+v", events[0].Prev, events[3].Prev)
	}
	want(t, events[0].KV, one)
	want(t, events[1].Prev, one)
	want(t, events[1].KV, two)
	want(t, events[2].Prev, two)
	want(t, events[2].KV, storage.KeyValue{Key: "/a", ModRevision: 4})
	want(t, events[3].KV, storage.KeyValue{Key: "/a", Value: []byte("3"), CreateRevision: 5, ModRevision: 5, Version: 1})

	without, err := s.Watch(storage.WatchRequest{Start: "/a", After: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(without.Close)
	for i, e := range read(t, without, 5) {
		if e.Type != events[i].Type || !sameKV(e.KV, events[i].KV) || e.Prev != nil {
			t.Errorf("without previous versions: event %d is %+v, want %+v", i, e, events[i])
		}
	}
}

// testWatchStorm writes from many goroutines, transactions of several keys among them, while
// cursors of several kinds read: each must see exactly its part of the log.
func testWatchStorm(t *testing.T, s storage.Store) {
	const writers, rounds = 6, 60
	last := storage.Revision(1 + writers*rounds)
	spans := [][2]string{{"/", "0"}, {"/", "0"}, {"/w1/", "/w20"}, {"/w3/5", ""}, {"/shared", ""}}
	stories := make([]string, len(spans))
	written := make(chan struct{})
	var readers, writing sync.WaitGroup
	for i, span := range spans {
		c := watch(t, s, span[0], span[1], 0)
		readers.Go(func() { stories[i] = story(readUntil(t, c, last, written)) })
	}
	// Latecomers start in the middle.
	late := make([]string, 3)
	for i := range late {
		readers.Go(func() {
			read(t, watchAll(t, s, 1), storage.Revision(20*i+2))
			late[i] = story(read(t, watchAll(t, s, 1), last))
		})
	}
	for w := range writers {
		writing.Go(func() {
			for i := range rounds {
				ops := []storage.Op{put(fmt.Sprintf("/w%d/%d", w, i%10), fmt.Sprint(i)), put("/shared", fmt.Sprint(w))}
				if i%3 == 2 {
					ops = append(ops, del(fmt.Sprintf("/w%d/%d", w, (i-1)%10)))
				}
				commit(t, s, ops...)
			}
		})
	}
	writing.Wait()
	close(written)
	readers.Wait()
	for i, span := range spans {
		if full := story(read(t, watch(t, s, span[0], span[1], 1), last)); stories[i] != full {
			t.Errorf("cursor on %q saw\n%s\nreplayed\n%s", span, stories[i], full)
		}
	}
	for _, l := range late {
		if l != stories[0] {
			t.Errorf("a latecomer saw\n%s\nthe first\n%s", l, stories[0])
		}
	}
	// The log, replayed onto a map, is the state.
	state := map[string]string{}
	next := storage.Revision(2)
	for _, e := range read(t, watchAll(t, s, 1), last) {
		if e.Revision() != next && e.Revision() != next-1 {
			t.Fatalf("revision %d where %d should be: a gap", e.Revision(), next)
		}
		next = e.Revision() + 1
		if e.Type == storage.Delete {
			delete(state, e.KV.Key)
		} else {
			state[e.KV.Key] = string(e.KV.Value)
		}
	}
	res := rangeOf(t, s, storage.RangeRequest{Start: "/", End: "0"})
	if len(res.KVs) != len(state) {
		t.Errorf("%d keys, the log makes %d", len(res.KVs), len(state))
	}
	for _, kv := range res.KVs {
		if state[kv.Key] != string(kv.Value) {
			t.Errorf("%s is %q, the log makes it %q", kv.Key, kv.Value, state[kv.Key])
		}
	}
}

// testWatchLong replays more events than fit in one batch, in large transactions, which must not be
// split.
func testWatchLong(t *testing.T, s storage.Store) {
	const txns, size = 120, 100
	for i := range txns {
		ops := make([]storage.Op, size)
		for j := range ops {
			ops[j] = put(fmt.Sprintf("/%d", j), fmt.Sprint(i))
		}
		commit(t, s, ops...)
	}
	events := read(t, watchAll(t, s, 1), 1+txns)
	if len(events) != txns*size {
		t.Errorf("%d events, want %d", len(events), txns*size)
	}
	// The bell alone is enough to get all of them.
	c, seen := watchAll(t, s, 1), 0
	for seen < txns*size {
		select {
		case <-c.Bell():
		case <-ctx(t).Done():
			t.Fatalf("no bell after %d of %d events", seen, txns*size)
		}
		b, err := c.Next()
		if err != nil {
			t.Fatal(err)
		}
		seen += len(b.Events)
	}
	half := read(t, watch(t, s, "/0", "/1", 1), 1+txns)
	if len(half) != txns {
		t.Errorf("%d events of one key, want %d", len(half), txns)
	}
}

func testBell(t *testing.T, s storage.Store) {
	c := watch(t, s, "/a", "", 0)
	if cap(c.Bell()) != 1 {
		t.Errorf("the bell has %d slots, want 1", cap(c.Bell()))
	}
	for i := range 3 {
		commit(t, s, put("/a", fmt.Sprint(i)))
	}
	// However often it rang, all events can be read at once.
	select {
	case <-c.Bell():
	case <-ctx(t).Done():
		t.Fatal("no bell")
	}
	wantStory(t, read(t, c, 4), "+/a=0@2 +/a=1@3 +/a=2@4")
	// A cursor that starts in the past has events at once.
	select {
	case <-watch(t, s, "/a", "", 1).Bell():
	case <-ctx(t).Done():
		t.Fatal("no bell for what was there before")
	}
}

func testCursorClose(t *testing.T, s storage.Store) {
	c, other := watchAll(t, s, 0), watchAll(t, s, 0)
	commit(t, s, put("/a", "1"))
	c.Close()
	c.Close()
	_, err := c.Next()
	wantErr(t, "Next of a closed cursor", err, storage.ErrClosed)
	commit(t, s, put("/a", "2"))
	wantStory(t, read(t, other, 3), "+/a=1@2 +/a=2@3")
}
