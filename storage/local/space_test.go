package local_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
)

// TestSpace writes twenty megabytes over and over the same keys: nearly all of it
// must leave the disk by itself when it is history no more.
func TestSpace(t *testing.T) {
	m := newMeter()
	s := open(t, "/data", local.Options{FS: m, History: time.Millisecond})
	defer s.Close()
	value := make([]byte, 64<<10)
	rand.NewChaCha8([32]byte{}).Read(value) // does not compress
	const keys, rounds, bound = 20, 15, 5 << 20
	for i := range keys * rounds {
		op := storage.Op{Key: fmt.Sprint("/", i%keys), Value: value}
		if _, err := s.Commit(t.Context(), storage.Txn{Then: []storage.Op{op}}); err != nil {
			t.Fatal(err)
		}
	}
	late := time.After(time.Minute)
	for m.used() > bound {
		select {
		case <-m.removed:
		case <-late:
			t.Fatalf("%d bytes, %+v", m.used(), s.Stats())
		}
	}
}

// TestDeletedKeysLeaveMemory creates and deletes keys that never come again. It runs in a process of its
// own, since the heap of this one has the memory of other tests' goroutines.
func TestDeletedKeysLeaveMemory(t *testing.T) {
	const alone = "FAIRLEAD_TEST_ALONE"
	if os.Getenv(alone) == "" {
		program, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), program, "-test.run=^TestDeletedKeysLeaveMemory$")
		cmd.Env = append(os.Environ(), alone+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
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
	left := heap() - before
	for deadline := time.Now().Add(time.Minute); left > kept/10 && time.Now().Before(deadline); left = heap() - before {
		time.Sleep(time.Millisecond) // the packer reads the log of before the compaction for a moment
	}
	if left > kept/10 || s.Stats().Keys != 0 || s.Stats().Events != 0 {
		t.Errorf("%d bytes are left of %d, %+v", left, kept, s.Stats())
	}
	runtime.KeepAlive(s)
}
