package local_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
)

// brittle is a file system in memory that fails the operations that op selects, once broken is set.
func brittle(op func(errorfs.Op) bool) (fs vfs.FS, mem *vfs.MemFS, broken *atomic.Bool) {
	mem, broken = vfs.NewCrashableMem(), new(atomic.Bool)
	return errorfs.Wrap(mem, errorfs.InjectorFunc(func(o errorfs.Op) error {
		if broken.Load() && op(o) {
			return syscall.ENOSPC
		}
		return nil
	})), mem, broken
}

// TestFailure breaks the disk under many writers. Each gets a true answer, the store returns the
// reason for being read-only and can still be read, and the acknowledged writes are there after a
// crash.
func TestFailure(t *testing.T) {
	for name, op := range map[string]func(errorfs.Op) bool{
		"Sync": func(o errorfs.Op) bool {
			return o.Kind == errorfs.OpFileSync || o.Kind == errorfs.OpFileSyncData || o.Kind == errorfs.OpFileSyncTo
		},
		"Write":  func(o errorfs.Op) bool { return o.Kind == errorfs.OpFileWrite },
		"Create": func(o errorfs.Op) bool { return o.Kind == errorfs.OpCreate || o.Kind == errorfs.OpReuseForWrite },
		"All":    func(o errorfs.Op) bool { return o.Kind.ReadOrWrite() == errorfs.OpIsWrite },
	} {
		t.Run(name, func(t *testing.T) {
			fs, mem, broken := brittle(op)
			s := open(t, "data", local.Options{FS: fs})
			c, err := s.Watch(storage.WatchRequest{Start: "/", End: "0", Prev: true})
			if err != nil {
				t.Fatal(err)
			}
			var mu sync.Mutex
			acked := map[string]storage.Revision{}
			refused := map[string]bool{}
			var writers sync.WaitGroup
			value := []byte(strings.Repeat("x", 20_000))
			for w := range 4 {
				writers.Go(func() {
					// Large enough in all to need new files.
					for i := range 400 {
						if i == 40 {
							broken.Store(true)
						}
						key := fmt.Sprintf("/%d/%d", w, i)
						res, err := s.Commit(context.Background(), storage.Txn{Then: []storage.Op{{Key: key, Value: value}}})
						mu.Lock()
						switch {
						case err == nil:
							acked[key] = res.Revision
						case errors.Is(err, storage.ErrNotWritten):
							refused[key] = true
						case !errors.Is(err, storage.ErrUnavailable):
							t.Errorf("Commit: %v", err)
						}
						mu.Unlock()
						if err != nil && !errors.Is(err, syscall.ENOSPC) {
							t.Errorf("the error does not say why: %v", err)
						}
					}
				})
			}
			writers.Wait()
			if s.Err() == nil || s.Stats().Err == nil || len(refused) == 0 {
				t.Fatalf("the store noticed nothing: %v", s.Err())
			}
			<-s.Failed()
			if room := local.OutOfSpace(s.Err()); room != (name == "Write" || name == "Create") && name != "All" {
				t.Errorf("OutOfSpace of %v: %v", s.Err(), room)
			}
			wantErr(t, "Compact", s.Compact(t.Context(), s.Revision()), storage.ErrNotWritten)
			check := func(s storage.Store, when string) {
				for key, rev := range acked {
					r, err := s.Range(t.Context(), storage.RangeRequest{Start: key, Revision: rev})
					if err != nil || len(r.KVs) != 1 || r.KVs[0].ModRevision != rev || len(r.KVs[0].Value) != len(value) {
						t.Fatalf("%s, %s of revision %d: %+v, %v", when, key, rev, r, err)
					}
				}
				for key := range refused {
					if r, err := s.Range(t.Context(), storage.RangeRequest{Start: key}); err != nil || r.Count != 0 {
						t.Fatalf("%s, %s, which was not written: %+v, %v", when, key, r, err)
					}
				}
			}
			check(s, "after the failure")
			b, err := c.Next()
			if err != nil || len(b.Events) < len(acked) || len(b.Events) != int(b.Progress)-1 {
				t.Errorf("the cursor: %d events, progress %d, %v", len(b.Events), b.Progress, err)
			}
			crashed := mem.CrashClone(vfs.CrashCloneCfg{})
			s.Close() // may well fail, but must return

			s = open(t, "data", local.Options{FS: crashed})
			check(s, "after a crash")
			put(t, s, "/new", "1")
			s.Close()
		})
	}
}

func wantErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: got error %v, want %v", what, err, want)
	}
}
