package snapshot_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fairlead.dev/internal/storage/snapshot"
	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
)

func open(t testing.TB) *local.Store {
	t.Helper()
	s, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// filled is a store with some of everything.
func filled(t testing.TB) *local.Store {
	t.Helper()
	s := open(t)
	if _, err := s.Grant(t.Context(), 7, time.Hour); err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		ops := []storage.Op{
			{Key: fmt.Sprintf("/a/%03d", i%100), Value: fmt.Append(nil, i)},
			{Key: fmt.Sprintf("/b/%03d", i), Value: bytes.Repeat([]byte("x"), 1000), Lease: 7},
			{Type: storage.Delete, Key: fmt.Sprintf("/b/%03d", i-5)},
		}
		if _, err := s.Commit(t.Context(), storage.Txn{Then: ops}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func save(t testing.TB, s storage.Store) string {
	t.Helper()
	f, err := snapshot.Take(t.Context(), s, t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b bytes.Buffer
	if n, err := f.WriteTo(&b); err != nil || n != f.Size || n != int64(b.Len()) {
		t.Fatalf("%d of %d bytes, %v", n, f.Size, err)
	}
	name := filepath.Join(t.TempDir(), "snapshot.db")
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func all(t *testing.T, s storage.Store) []*storage.KeyValue {
	t.Helper()
	r, err := s.Range(t.Context(), storage.RangeRequest{Start: "/", End: storage.NoEnd})
	if err != nil {
		t.Fatal(err)
	}
	return r.KVs
}

// TestRoundTrip: the restored store has the same keys at the same revisions.
func TestRoundTrip(t *testing.T) {
	s := filled(t)
	snap, err := snapshot.Read(save(t, s), nil)
	if err != nil {
		t.Fatal(err)
	}
	if snap.Revision != s.Revision() || len(snap.Leases) != 1 {
		t.Errorf("revision %d of %d, leases %v", snap.Revision, s.Revision(), snap.Leases)
	}
	dir := filepath.Join(t.TempDir(), "restored")
	if err := local.Restore(dir, local.Options{}, snap.Revision, snap.KVs, snap.Leases); err != nil {
		t.Fatal(err)
	}
	r, err := local.Open(dir, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	want, got := all(t, s), all(t, r)
	if r.Revision() != s.Revision() || len(got) != len(want) {
		t.Fatalf("revision %d, %d keys; want %d, %d", r.Revision(), len(got), s.Revision(), len(want))
	}
	for i := range want {
		if fmt.Sprint(*want[i]) != fmt.Sprint(*got[i]) {
			t.Fatalf("%+v became %+v", want[i], got[i])
		}
	}
	l, err := r.Lease(t.Context(), 7)
	if err != nil || len(l.Keys) != 5 || l.TTL != time.Hour {
		t.Errorf("%+v, %v", l, err)
	}
	// Into one that runs.
	other := open(t)
	if err := snap.Into(t.Context(), other, nil); err != nil {
		t.Fatal(err)
	}
	if got := all(t, other); len(got) != len(want) || string(got[7].Value) != string(want[7].Value) {
		t.Errorf("%d keys, want %d", len(got), len(want))
	}
	if err := snap.Into(t.Context(), other, nil); !errors.Is(err, snapshot.ErrNotEmpty) {
		t.Errorf("into a store with keys: %v", err)
	}
}

// TestOnline takes a snapshot under writes: it is all of one revision.
func TestOnline(t *testing.T) {
	s := open(t)
	ctx, stop := context.WithCancel(t.Context())
	written := make(chan struct{})
	go func() {
		defer close(written)
		for i := 0; ctx.Err() == nil; i++ {
			v := fmt.Append(nil, i)
			s.Commit(context.Background(), storage.Txn{Then: []storage.Op{{Key: "/1", Value: v}, {Key: "/2", Value: v}}})
		}
	}()
	for range 5 {
		snap, err := snapshot.Read(save(t, s), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(snap.KVs) == 2 && (string(snap.KVs[0].Value) != string(snap.KVs[1].Value) || snap.KVs[0].ModRevision != snap.Revision) {
			t.Errorf("%+v and %+v at %d", snap.KVs[0], snap.KVs[1], snap.Revision)
		}
	}
	stop()
	<-written
}

func TestCorrupt(t *testing.T) {
	name := save(t, filled(t))
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for what, b := range map[string][]byte{
		"empty":   {},
		"cut":     whole[:len(whole)-100],
		"no sum":  whole[:len(whole)-32],
		"flipped": append(append(bytes.Clone(whole[:5000]), whole[5000]^1), whole[5001:]...),
		"text":    []byte("this is a letter to my aunt"),
	} {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := snapshot.Read(name, nil); !errors.Is(err, snapshot.ErrCorrupt) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
