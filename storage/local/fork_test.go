package local_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
)

// putUnder writes a key that ends with a lease.
func putUnder(t testing.TB, s *local.Store, key string, lease storage.LeaseID) storage.Revision {
	t.Helper()
	res, err := s.Commit(t.Context(), storage.Txn{Then: []storage.Op{{Type: storage.Put, Key: key, Lease: lease}}})
	if err != nil {
		t.Fatal(err)
	}
	return res.Revision
}

// content returns all keys, revisions and values as text.
func content(t testing.TB, s *local.Store, at storage.Revision) string {
	t.Helper()
	all, err := s.Range(t.Context(), storage.RangeRequest{End: storage.NoEnd, Revision: at})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, kv := range all.KVs {
		fmt.Fprintf(&b, "%s=%s created %d, modified %d, version %d\n", kv.Key, kv.Value, kv.CreateRevision, kv.ModRevision, kv.Version)
	}
	return b.String()
}

func fork(t testing.TB, s *local.Store, at storage.Revision) *local.Store {
	t.Helper()
	f, err := s.Fork(t.Context(), at, local.ForkOptions{Options: local.Options{History: -1}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestFork(t *testing.T) {
	base := open(t, "", local.Options{InMemory: true, History: -1})
	for i := range 1000 {
		put(t, base, fmt.Sprintf("/%03d", i), "first")
	}
	put(t, base, "/000", "second")
	if _, err := base.Commit(t.Context(), storage.Txn{Then: []storage.Op{{Type: storage.Delete, Key: "/001"}}}); err != nil {
		t.Fatal(err)
	}
	at := base.Revision()
	was := content(t, base, 0)
	put(t, base, "/000", "later") // not in a fork at an earlier revision

	a, b := fork(t, base, at), fork(t, base, at)
	if a.Revision() != at || content(t, a, 0) != was || content(t, b, 0) != was {
		t.Fatalf("a fork at %d is at %d", at, a.Revision())
	}
	w, err := a.Watch(storage.WatchRequest{Start: "/", End: storage.NoEnd, After: at, Prev: true})
	if err != nil {
		t.Fatal(err)
	}
	// Enough to pack the shared versions and compact them in one of the stores.
	for range 600 {
		put(t, a, "/000", "of a")
	}
	if err := a.Compact(t.Context(), a.Revision()); err != nil {
		t.Fatal(err)
	}
	put(t, b, "/001", "of b")
	if got := content(t, base, at); got != was {
		t.Error("a write to a fork changed its base")
	}
	if got, want := content(t, b, 0), strings.Replace(was, "/002", fmt.Sprintf("/001=of b created %d, modified %d, version 1\n/002", at+1, at+1), 1); got != want {
		t.Errorf("b holds\n%.200s\nwant\n%.200s", got, want)
	}
	base.Close()
	if got := content(t, b, at); got != was {
		t.Error("the fork changed with its base closed")
	}
	if _, err := b.Range(t.Context(), storage.RangeRequest{End: storage.NoEnd, Revision: at - 1}); !errors.Is(err, storage.ErrCompacted) {
		t.Errorf("a read below the fork: %v", err)
	}
	if _, err := b.Watch(storage.WatchRequest{Start: "/", End: storage.NoEnd, After: at - 1}); !errors.Is(err, storage.ErrCompacted) {
		t.Errorf("a watch from below the fork: %v", err)
	}
	w.Close()
}

func TestForkRefused(t *testing.T) {
	s := open(t, "", local.Options{InMemory: true, History: -1})
	for range 3 {
		put(t, s, "/a", "a")
	}
	if err := s.Compact(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[storage.Revision]error{2: storage.ErrCompacted, 9: storage.ErrFutureRevision, -1: storage.ErrInvalid} {
		if _, err := s.Fork(t.Context(), at, local.ForkOptions{}); !errors.Is(err, want) {
			t.Errorf("a fork at %d: %v", at, err)
		}
	}
	s.Close()
	if _, err := s.Fork(t.Context(), 0, local.ForkOptions{}); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("a fork of a closed store: %v", err)
	}
}

func TestForkLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := open(t, "", local.Options{InMemory: true, History: -1})
		defer base.Close()
		for id, ttl := range map[storage.LeaseID]time.Duration{1: time.Minute, 2: time.Hour} {
			if _, err := base.Grant(t.Context(), id, ttl); err != nil {
				t.Fatal(err)
			}
		}
		putUnder(t, base, "/minute", 1)
		at := putUnder(t, base, "/hour", 2)
		time.Sleep(30 * time.Second)
		f, err := base.Fork(t.Context(), 0, local.ForkOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		time.Sleep(31 * time.Second)
		if got := content(t, f, 0); strings.Contains(got, "/minute") || !strings.Contains(got, "/hour") {
			t.Errorf("a minute after the grant the fork holds %q", got)
		}
		// In the base the lease has ended too, so an older revision no longer brings it back.
		late, err := base.Fork(t.Context(), at, local.ForkOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer late.Close()
		if got := content(t, late, 0); strings.Contains(got, "/minute") {
			t.Errorf("a fork of before the end holds %q", got)
		}
	})
}

func BenchmarkFork(b *testing.B) {
	for _, keys := range []int{1000, 100000} {
		b.Run(fmt.Sprintf("keys=%d", keys), func(b *testing.B) {
			s := open(b, "", local.Options{InMemory: true})
			value := strings.Repeat("x", 1000)
			for i := range keys {
				put(b, s, fmt.Sprintf("/%08d", i), value)
			}
			b.ReportAllocs()
			for b.Loop() {
				f, err := s.Fork(b.Context(), 0, local.ForkOptions{})
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				f.Close()
				b.StartTimer()
			}
		})
	}
}
