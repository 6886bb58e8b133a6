package etcd_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"fairlead.dev/storage"
)

// patience bounds every wait for an event. It is not a measure of speed.
const patience = time.Minute

// history writes one numbered value after the other, and watches them. In the end every
// acknowledged value must have been seen, once, at the revision of its answer, and besides these
// only values whose commit failed with an unknown outcome.
type history struct {
	t     *testing.T
	store storage.Store
	stop  context.CancelFunc
	work  sync.WaitGroup

	mu struct {
		sync.Mutex
		// acked are the values by revision; doubtful those of commits that failed.
		acked    map[storage.Revision]string
		doubtful map[string]bool
		// last is the last one acknowledged; grown is rung at each.
		last storage.Revision
	}
	grown chan struct{}

	cursor storage.Cursor
	seen   []storage.Event
}

func begin(t *testing.T, writer, watched storage.Store) *history {
	t.Helper()
	h := &history{t: t, store: writer, grown: make(chan struct{}, 1)}
	h.mu.acked, h.mu.doubtful = map[storage.Revision]string{}, map[string]bool{}
	var err error
	if h.cursor, err = watched.Watch(storage.WatchRequest{Start: "/h/", End: "/h0", Prev: true}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	h.stop = stop
	h.work.Go(func() { h.write(ctx) })
	t.Cleanup(func() { stop(); h.work.Wait(); h.cursor.Close() })
	return h
}

func (h *history) write(ctx context.Context) {
	for i := 0; ctx.Err() == nil; i++ {
		value := strconv.Itoa(i)
		// Two keys, so that the test notices a split transaction.
		res, err := h.store.Commit(context.Background(), storage.Txn{Then: []storage.Op{
			{Key: fmt.Sprint("/h/a", i%10), Value: []byte(value)},
			{Key: "/h/b", Value: []byte(value)},
		}})
		h.mu.Lock()
		switch {
		case err == nil:
			h.mu.acked[res.Revision] = value
			h.mu.last = res.Revision
		case errors.Is(err, storage.ErrNotWritten):
		case errors.Is(err, storage.ErrUnavailable):
			h.mu.doubtful[value] = true
		default:
			h.t.Errorf("Commit: %v", err)
		}
		h.mu.Unlock()
		select {
		case h.grown <- struct{}{}:
		default:
		}
	}
}

// progress waits until n more writes have been acknowledged.
func (h *history) progress(n int) {
	h.t.Helper()
	count := func() int {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.mu.acked)
	}
	deadline := time.After(patience)
	for want := count() + n; count() < want; {
		select {
		case <-h.grown:
		case <-deadline:
			h.t.Fatal("no write is acknowledged")
		}
	}
}

// take reads the cursor until it has come up to rev.
func (h *history) take(rev storage.Revision) {
	h.t.Helper()
	deadline := time.After(patience)
	for {
		b, err := h.cursor.Next()
		if err != nil {
			h.t.Fatalf("the cursor: %v", err)
		}
		h.seen = append(h.seen, b.Events...)
		if b.Progress >= rev {
			return
		}
		h.cursor.Want(rev)
		select {
		case <-h.cursor.Bell():
		case <-deadline:
			h.t.Fatalf("the cursor stands at %d, want %d", b.Progress, rev)
		}
	}
}

// end stops writing and compares.
func (h *history) end() {
	h.t.Helper()
	h.stop()
	h.work.Wait()
	rev, err := h.store.Current(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	h.take(rev)
	h.mu.Lock()
	defer h.mu.Unlock()
	found, last := 0, storage.Revision(0)
	for i := 0; i < len(h.seen); i += 2 {
		if i+1 == len(h.seen) || h.seen[i+1].Revision() != h.seen[i].Revision() || h.seen[i].Revision() <= last {
			h.t.Fatalf("event %d: %+v after revision %d", i, h.seen[i].KV, last)
		}
		last = h.seen[i].Revision()
		value := string(h.seen[i].KV.Value)
		if acked, ok := h.mu.acked[last]; ok {
			found++
			if acked != value {
				h.t.Errorf("revision %d is %s, acknowledged was %s", last, value, acked)
			}
		} else if !h.mu.doubtful[value] {
			h.t.Errorf("revision %d: %s was seen and never acknowledged", last, value)
		}
		if prev := h.seen[i+1].Prev; i > 0 && (prev == nil || prev.ModRevision != h.seen[i-1].Revision()) {
			h.t.Errorf("revision %d came with %+v before it, want that of %d", last, prev, h.seen[i-1].Revision())
		}
	}
	if found != len(h.mu.acked) {
		h.t.Errorf("%d acknowledged writes, %d of them seen", len(h.mu.acked), found)
	}
	h.t.Logf("%d writes acknowledged, %d doubtful, %d events seen", len(h.mu.acked), len(h.mu.doubtful), len(h.seen))
}
