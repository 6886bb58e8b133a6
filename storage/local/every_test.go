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
	first string // the operation that failed
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

// A ledger is the answers that a writer got.
type ledger struct {
	acked map[string]string // "" is deleted
	// open is the write that failed, which may or may not be there.
	open map[string]string
}

// work writes, deletes, compacts and makes space until something fails.
func (l *ledger) work(ctx context.Context, s *local.Store, r *rand.Rand) error {
	noise := make([]byte, 8<<10)
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

// check checks that s holds the acknowledged writes.
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

// TestEveryOperationFails fails the operations on the file system in turn, once or from then on,
// while a store writes, flushes, compacts and makes space. After each failure no call hangs,
// acknowledged writes can be read then and after a crash, and refused calls return the reason.
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

// everyStep and openStep are which operations fail, one in so many; all do under -tags
// soak, which also flips every byte.
var everyStep, openStep, flipStep = 11, 4, 5

// TestOpenFails fails the operations of Open in turn, on an empty directory and on the files that a
// crash has left. Open returns the failure, and the next Open finds all writes.
func TestOpenFails(t *testing.T) {
	full, l := crashed(t)
	for name, base := range map[string]*vfs.MemFS{"Empty": vfs.NewCrashableMem(), "Crashed": full} {
		t.Run(name, func(t *testing.T) {
			for n := 1; ; n += openStep {
				f := newFlaw(base.CrashClone(vfs.CrashCloneCfg{}), syscall.EIO, false)
				f.start(n)
				s, err := local.Open("/data", local.Options{FS: f})
				hit := f.hit.Load()
				when := fmt.Sprintf("after operation %d of Open failed, %s", n, f.first)
				if err != nil {
					if !errors.Is(err, syscall.EIO) && !errors.Is(err, local.ErrCorrupt) {
						t.Fatalf("%s: %v", when, err)
					}
					if s, err = local.Open("/data", local.Options{FS: f.mem.CrashClone(vfs.CrashCloneCfg{})}); err != nil {
						t.Fatalf("%s: %v", when, err)
					}
				}
				if base == full {
					l.check(t, s, when)
				}
				s.Close()
				if !hit {
					t.Logf("%d operations", n)
					return
				}
			}
		})
	}
}

// crashed is the files of a store with several tables and log files after a loss of power, and the
// writes that it had acknowledged.
func crashed(t *testing.T) (*vfs.MemFS, *ledger) {
	fs := vfs.NewCrashableMem()
	l := &ledger{acked: map[string]string{}}
	add := func(s *local.Store, i, size int) {
		key, value := fmt.Sprint("/", i), strings.Repeat(fmt.Sprint(i), size)
		put(t, s, key, value)
		l.acked[key] = value
	}
	for round := range 3 {
		s := open(t, "/data", local.Options{FS: fs})
		for i := range 20 {
			add(s, round*20+i, 10_000)
		}
		if round < 2 {
			s.Close()
			continue
		}
		left := fs.CrashClone(vfs.CrashCloneCfg{})
		s.Close()
		fs = left
	}
	return fs, l
}

// TestLostFile removes each file in turn. Without it the store holds all writes, or does not open
// and names the remedy.
func TestLostFile(t *testing.T) {
	base, l := crashed(t)
	refused := 0
	for _, dir := range []string{"/data", "/data/log"} {
		names, err := base.List(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			path := base.PathJoin(dir, name)
			fs := base.CrashClone(vfs.CrashCloneCfg{})
			if path == "/data/log" {
				continue
			}
			if err := fs.Remove(path); err != nil {
				t.Fatal(err)
			}
			s, err := local.Open("/data", local.Options{FS: fs})
			t.Logf("without %s: %v", path, err)
			if err == nil {
				l.check(t, s, "without "+path)
				s.Close()
				continue
			}
			refused++
			if !errors.Is(err, local.ErrCorrupt) && !errors.Is(err, local.ErrForeign) || strings.Contains(err.Error(), "\n") {
				t.Errorf("without %s: %v", path, err)
			}
		}
	}
	if refused < 5 {
		t.Errorf("only %d files were missed", refused)
	}
}
