package local_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
)

// TestSpace writes a hundred megabytes over and over the same keys: nearly all of it
// must leave the disk by itself when it is history no more.
func TestSpace(t *testing.T) {
	s := open(t, "data", local.Options{FS: vfs.NewMem(), History: time.Millisecond})
	defer s.Close()
	value := make([]byte, 64<<10)
	rand.NewChaCha8([32]byte{}).Read(value) // does not compress
	const keys, rounds, bound = 20, 80, 8 << 20
	for i := range keys * rounds {
		op := storage.Op{Key: fmt.Sprint("/", i%keys), Value: value}
		if _, err := s.Commit(t.Context(), storage.Txn{Then: []storage.Op{op}}); err != nil {
			t.Fatal(err)
		}
	}
	deadline := time.Now().Add(20 * time.Second)
	for s.Compacted() < s.Revision() || s.Stats().DiskBytes > bound {
		if time.Now().After(deadline) {
			t.Fatalf("%+v", s.Stats())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestDeletedKeysLeaveMemory creates and deletes keys that never come again.
func TestDeletedKeysLeaveMemory(t *testing.T) {
	s := open(t, "", local.Options{InMemory: true})
	defer s.Close()
	heap := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	const keys = 20_000
	before := heap()
	for i := range keys {
		key := fmt.Sprint("/", i)
		put(t, s, key, "x")
		if _, err := s.Commit(t.Context(), storage.Txn{Then: []storage.Op{{Type: storage.Delete, Key: key}}}); err != nil {
			t.Fatal(err)
		}
	}
	kept := heap() - before
	if err := s.Compact(t.Context(), s.Revision()); err != nil {
		t.Fatal(err)
	}
	if left := heap() - before; left > kept/10 || s.Stats().Keys != 0 || s.Stats().Events != 0 {
		t.Errorf("%d bytes are left of %d, %+v", left, kept, s.Stats())
	}
	runtime.KeepAlive(s)
}
