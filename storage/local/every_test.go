package local_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
)

// A flaw is a file system in memory whose nth operation, counted from start, fails,
// and, if it is for good, all that follow.
type flaw struct {
	vfs.FS
	mem   *vfs.MemFS
	n     atomic.Int64 // operations left, far below 0 before start
	hit   atomic.Bool
	first string // what failed
}

func newFlaw(mem *vfs.MemFS, errno error, forGood bool) *flaw {
	f := &flaw{mem: mem}
	f.n.Store(-1 << 40)
	f.FS = errorfs.Wrap(mem, errorfs.InjectorFunc(func(o errorfs.Op) error {
		if o.Kind == errorfs.OpFileClose {
			return nil
		}
		left := f.n.Add(-1)
		if left == 0 {
			f.first = fmt.Sprint(o.Kind, " ", o.Path)
			f.hit.Store(true)
		}
		if left == 0 || forGood && f.hit.Load() {
			return errno
		}
		return nil
	}))
	return f
}

func (f *flaw) start(n int) { f.n.Store(int64(n)) }

// A ledger is what a writer was told.
type ledger struct {
	acked map[string]string // "" is deleted
	// open is what may or may not be there: the write that failed.
	open map[string]string
}

// work writes, deletes, compacts and makes space until something fails.
func (l *ledger) work(ctx context.Context, s *local.Store, r *rand.Rand) error {
	noise := make([]byte, 30<<10)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	for i := range 24 {
		key := fmt.Sprint("/", i%7)
		op := storage.Op{Type: storage.Put, Key: key, Value: noise[:len(noise)-i]}
		if i%5 == 4 {
			op = storage.Op{Type: storage.Delete, Key: key}
		}
		if _, err := s.Commit(ctx, storage.Txn{Then: []storage.Op{op}}); err != nil {
			if !errors.Is(err, storage.ErrNotWritten) {
				l.open[key] = string(op.Value)
			}
			return err
		}
		l.acked[key] = string(op.Value)
		if i%8 == 7 {
			if err := s.Compact(ctx, s.Revision()); err != nil {
				return err
			}
		}
		if i%12 == 11 {
			if err := s.Defragment(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// check says that s holds what was acknowledged.
func (l *ledger) check(t *testing.T, s *local.Store, when string) {
	t.Helper()
	for key, want := range l.acked {
		r, err := s.Range(t.Context(), storage.RangeRequest{Start: key})
		if err != nil {
			t.Fatalf("%s, %s: %v", when, key, err)
		}
		got := ""
		if len(r.KVs) > 0 {
			got = string(r.KVs[0].Value)
		}
		if other, ok := l.open[key]; got != want && !(ok && got == other) {
			t.Fatalf("%s, %s holds %d bytes, want %d", when, key, len(got), len(want))
		}
	}
}

// TestEveryOperationFails fails each operation on the file system in turn, once or
// from then on, while a store writes, flushes, compacts and makes space. Whatever it
// is, nothing hangs, what was acknowledged can be read then and after a crash, and
// who is refused is told why.
func TestEveryOperationFails(t *testing.T) {
	base := vfs.NewCrashableMem()
	s := open(t, "/data", local.Options{FS: base})
	put(t, s, "/before", strings.Repeat("x", 1000))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		errno   error
		forGood bool
	}{{"Full", syscall.ENOSPC, true}, {"Once", syscall.EIO, false}} {
		t.Run(c.name, func(t *testing.T) {
			failed := 0
			n := 1
			for ; ; n += everyStep {
				f := newFlaw(base.CrashClone(vfs.CrashCloneCfg{}), c.errno, c.forGood)
				s := open(t, "/data", local.Options{FS: f, History: -1})
				l := &ledger{acked: map[string]string{"/before": strings.Repeat("x", 1000)}, open: map[string]string{}}
				f.start(n)
				err := l.work(t.Context(), s, rand.New(rand.NewPCG(uint64(n), 0)))
				if err != nil {
					failed++
					if !errors.Is(err, c.errno) || s.Err() == nil {
						t.Fatalf("operation %d, %s: %v, the store says %v", n, f.first, err, s.Err())
					}
				}
				l.check(t, s, fmt.Sprintf("after operation %d failed, %s", n, f.first))
				hit := f.hit.Load()
				crashed := f.mem.CrashClone(vfs.CrashCloneCfg{})
				s.Close()
				s = open(t, "/data", local.Options{FS: crashed})
				l.check(t, s, fmt.Sprintf("after operation %d failed, %s, and a crash", n, f.first))
				put(t, s, "/new", "1")
				s.Close()
				if !hit {
					break
				}
			}
			t.Logf("%d operations, %d failures of the store", n, failed)
			if failed < n/everyStep/3 {
				t.Errorf("only %d of %d failures were noticed", failed, n/everyStep)
			}
		})
	}
}

// everyStep is 1 under -tags soak.
var everyStep = 7

// TestOpenFails fails each operation of Open in turn. It says so, and the next Open
// finds everything.
func TestOpenFails(t *testing.T) {
	base := vfs.NewCrashableMem()
	s := open(t, "/data", local.Options{FS: base})
	want := strings.Repeat("x", 100_000)
	put(t, s, "/flushed", want)
	s.Close()
	s = open(t, "/data", local.Options{FS: base})
	put(t, s, "/logged", want)
	wreck := base.CrashClone(vfs.CrashCloneCfg{})
	s.Close()
	for n := 1; ; n++ {
		f := newFlaw(wreck.CrashClone(vfs.CrashCloneCfg{}), syscall.EIO, false)
		f.start(n)
		s, err := local.Open("/data", local.Options{FS: f})
		hit := f.hit.Load()
		if err != nil {
			if !errors.Is(err, syscall.EIO) && !errors.Is(err, local.ErrCorrupt) {
				t.Fatalf("operation %d, %s: %v", n, f.first, err)
			}
			s = open(t, "/data", local.Options{FS: f.mem.CrashClone(vfs.CrashCloneCfg{})})
		}
		l := ledger{acked: map[string]string{"/flushed": want, "/logged": want}}
		l.check(t, s, fmt.Sprintf("after operation %d of Open failed, %s", n, f.first))
		s.Close()
		if !hit {
			t.Logf("%d operations", n)
			return
		}
	}
}
