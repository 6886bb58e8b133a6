package storagetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"fairlead.dev/storage"
)

func compact(t testing.TB, s storage.Store, r storage.Revision) {
	t.Helper()
	if err := s.Compact(ctx(t), r); err != nil {
		t.Fatalf("Compact(%d): %v", r, err)
	}
}

func testCompact(t *testing.T, s storage.Store) {
	commit(t, s, put("/a", "1"), put("/b", "1"), put("/c", "1")) // 2
	commit(t, s, put("/a", "2"))                                 // 3
	commit(t, s, del("/b"))                                      // 4
	commit(t, s, put("/a", "3"), put("/b", "2"))                 // 5
	commit(t, s, del("/c"))                                      // 6
	compact(t, s, 4)
	if s.Compacted() != 4 || s.Revision() != 6 {
		t.Errorf("compacted %d, revision %d; want 4, 6", s.Compacted(), s.Revision())
	}
	for rev, want := range map[storage.Revision]string{4: "/a=2 /c=1", 5: "/a=3 /b=2 /c=1", 6: "/a=3 /b=2", 0: "/a=3 /b=2"} {
		if got := text(rangeOf(t, s, storage.RangeRequest{Start: "/", End: "0", Revision: rev})); got != want {
			t.Errorf("at %d: %q, want %q", rev, got, want)
		}
	}
	events := read(t, watchAll(t, s, 4), 6)
	wantStory(t, events, "+/a=3@5 +/b=2@5 -/c@6")
	if len(events) == 3 && (events[0].Prev == nil || string(events[0].Prev.Value) != "2" || events[1].Prev != nil) {
		t.Errorf("what was before, just above the compaction: %+v, %+v", events[0].Prev, events[1].Prev)
	}
	// To the very end, and on.
	compact(t, s, 6)
	if r := commit(t, s, put("/c", "2")); r != 7 {
		t.Errorf("after compacting all, the next revision is %d, want 7", r)
	}
	want(t, get(t, s, "/c", 0), storage.KeyValue{Key: "/c", Value: []byte("2"), CreateRevision: 7, ModRevision: 7, Version: 1})
	want(t, get(t, s, "/a", 6), storage.KeyValue{Key: "/a", Value: []byte("3"), CreateRevision: 2, ModRevision: 5, Version: 3})
}

func testCompactErrors(t *testing.T, s storage.Store) {
	for i := range 3 {
		commit(t, s, put("/a", fmt.Sprint(i)))
	}
	wantErr(t, "Compact in the future", s.Compact(ctx(t), 5), storage.ErrFutureRevision)
	compact(t, s, 3)
	wantErr(t, "Compact again", s.Compact(ctx(t), 3), storage.ErrCompacted)
	wantErr(t, "Compact below", s.Compact(ctx(t), 2), storage.ErrCompacted)
	_, err := s.Watch(storage.WatchRequest{Start: "/", End: "0", After: 2})
	wantErr(t, "Watch below", err, storage.ErrCompacted)
	watchAll(t, s, 3)
}

func testCompactLagging(t *testing.T, s storage.Store) {
	lagging, single, reading := watchAll(t, s, 0), watch(t, s, "/a", "", 0), watchAll(t, s, 0)
	commit(t, s, put("/a", "1"))
	commit(t, s, put("/a", "2"))
	read(t, reading, 3)
	compact(t, s, 3)
	wantErr(t, "a cursor that lags", await(t, lagging), storage.ErrCompacted)
	_, err := lagging.Next()
	wantErr(t, "a cursor that lagged, again", err, storage.ErrCompacted)
	wantErr(t, "a cursor on one key that lags", await(t, single), storage.ErrCompacted)
	commit(t, s, put("/a", "3"))
	wantStory(t, read(t, reading, 4), "+/a=3@4")
}

// testCompactQuiet: a cursor whose keys are not written misses no event, whatever is compacted.
func testCompactQuiet(t *testing.T, s storage.Store) {
	key, span := watch(t, s, "/quiet", "", 0), watch(t, s, "/q", "/r", 0)
	for i := range 3 {
		commit(t, s, put("/loud", fmt.Sprint(i)))
	}
	compact(t, s, 4)
	commit(t, s, put("/quiet", "1"))
	wantStory(t, read(t, key, 5), "+/quiet=1@5")
	wantStory(t, read(t, span, 5), "+/quiet=1@5")
}

// testCompactUnderLoad compacts during writes, reads of old revisions and watches: each read
// returns the state of its revision, or ErrCompacted.
func testCompactUnderLoad(t *testing.T, s storage.Store) {
	const rounds = 300
	var wg sync.WaitGroup
	done := make(chan struct{})
	commit(t, s, put("/x", "2"), put("/y", "2"))
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				rev := max(s.Compacted(), 2)
				res, err := s.Range(ctx(t), storage.RangeRequest{Start: "/x", End: "/z", Revision: rev})
				if errors.Is(err, storage.ErrCompacted) {
					continue
				}
				if want := fmt.Sprintf("/x=%d /y=%d", rev, rev); err != nil || text(res) != want {
					t.Errorf("at %d: %q, %v; want %q", rev, text(res), err, want)
					return
				}
			}
		})
	}
	c := watchAll(t, s, 1)
	wg.Go(func() {
		for last := storage.Revision(1); last < rounds; {
			b, err := c.Next()
			if errors.Is(err, storage.ErrCompacted) {
				c.Close()
				last = s.Compacted()
				if c, err = s.Watch(storage.WatchRequest{Start: "/", End: "0", After: last, Prev: true}); errors.Is(err, storage.ErrCompacted) {
					c = watchAll(t, s, 0) // overtaken again; the next round counts
				}
				continue
			}
			if err != nil {
				t.Error(err)
				return
			}
			for _, e := range b.Events {
				if want := fmt.Sprint(e.Revision()); e.Type == storage.Put && string(e.KV.Value) != want {
					t.Errorf("event %s", story([]storage.Event{e}))
				}
				if e.KV.Key == "/x" && (e.Prev == nil) != (e.Revision() == 2) {
					t.Errorf("event of revision %d came with %+v before it", e.Revision(), e.Prev)
				}
			}
			last = b.Progress
			if len(b.Events) == 0 && last < rounds {
				<-c.Bell()
			}
		}
	})
	for i := storage.Revision(3); i < rounds; i++ {
		v := i.String()
		ops := []storage.Op{put("/x", v), put("/y", v)}
		if i%2 == 1 {
			ops = append(ops, put("/gone", v))
		} else {
			ops = append(ops, del("/gone"))
		}
		commit(t, s, ops...)
		if i%5 == 0 {
			compact(t, s, i-storage.Revision(i%4))
		}
	}
	commit(t, s, put("/x", "300"), put("/y", "300"))
	close(done)
	wg.Wait()
}

// testCompactDuringNext compacts the very events that a cursor is reading: it returns them whole,
// with the previous versions, or ErrCompacted.
func testCompactDuringNext(t *testing.T, s storage.Store) {
	write := func() (last storage.Revision) {
		for i := range 20 {
			ops := make([]storage.Op, 100)
			for j := range ops {
				ops[j] = put(fmt.Sprint("/", i*len(ops)+j), "x")
			}
			last = commit(t, s, ops...)
		}
		return last
	}
	last := write()
	for range 30 {
		c := watchAll(t, s, last)
		last = write()
		compacted := make(chan error, 1)
		go func() { compacted <- s.Compact(ctx(t), last) }()
		b, err := c.Next()
		if err != nil {
			wantErr(t, "Next during Compact", err, storage.ErrCompacted)
		}
		for _, e := range b.Events {
			if e.Prev == nil {
				t.Fatalf("revision %d of %s came without what was before", e.Revision(), e.KV.Key)
			}
		}
		if err := <-compacted; err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
}

func testClose(t *testing.T, s storage.Store) {
	c, reading := watchAll(t, s, 0), watchAll(t, s, 0)
	commit(t, s, put("/a", "1"))
	read(t, reading, 2)
	ended := make(chan error, 1)
	go func() { ended <- await(t, reading) }()
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	wantErr(t, "a waiting cursor", <-ended, storage.ErrClosed)
	wantErr(t, "a cursor with something unread", await(t, c), storage.ErrClosed)
	_, err := s.Range(ctx(t), storage.RangeRequest{Start: "/a"})
	wantErr(t, "Range", err, storage.ErrClosed)
	_, err = s.Commit(ctx(t), storage.Txn{Then: []storage.Op{put("/a", "2")}})
	wantErr(t, "Commit", err, storage.ErrClosed)
	wantErr(t, "Commit", err, storage.ErrNotWritten)
	_, err = s.Watch(storage.WatchRequest{Start: "/", End: "0"})
	wantErr(t, "Watch", err, storage.ErrClosed)
	wantErr(t, "Compact", s.Compact(ctx(t), 2), storage.ErrClosed)
	if err := s.Close(); err != nil {
		t.Errorf("Close again: %v", err)
	}
	reading.Close()
}
