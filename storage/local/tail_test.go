package local_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
)

// A wreck is the files that a loss of power leaves of a store that was being written to.
type wreck struct {
	fs   *vfs.MemFS
	name string // of the last log file
	log  []byte
	last int              // where the last group begins in it
	rev  storage.Revision // of that group
}

// wrecked makes a store whose last log file holds groups of all sizes: within a
// block, and over many.
func wrecked(t *testing.T) wreck {
	t.Helper()
	w := wreck{fs: vfs.NewCrashableMem()}
	s := open(t, "/data", local.Options{FS: w.fs})
	for i, size := range []int{100, 3000, 40_000, 100, 20_000, 5, 40_000, 700} {
		if i == 7 {
			w.name, w.log = lastLog(t, w.fs)
			w.last = len(w.log)
		}
		w.rev = put(t, s, fmt.Sprint("/", i), strings.Repeat("x", size))
	}
	w.fs = w.fs.CrashClone(vfs.CrashCloneCfg{})
	name, log := lastLog(t, w.fs)
	if name != w.name || len(log) <= w.last {
		t.Fatalf("log %s has %d bytes, %s before the last group had %d", name, len(log), w.name, w.last)
	}
	w.log = log
	s.Close()
	return w
}

// lastLog reads the log file with the highest number.
func lastLog(t *testing.T, fs vfs.FS) (name string, content []byte) {
	t.Helper()
	names, err := fs.List("/data/log")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if strings.HasSuffix(n, ".log") && n > name {
			name = n
		}
	}
	f, err := fs.Open("/data/log/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if content, err = io.ReadAll(f); err != nil {
		t.Fatal(err)
	}
	return name, content
}

// reopen opens a copy of the wreck with another log file.
func (w wreck) reopen(t *testing.T, log []byte) (storage.Revision, error) {
	t.Helper()
	fs := w.fs.CrashClone(vfs.CrashCloneCfg{})
	f, err := fs.Create("/data/log/"+w.name, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(slices.Clone(log)) // under the race detector MemFS scribbles over its argument
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
	s, err := local.Open("/data", local.Options{FS: fs})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	return s.Revision(), nil
}

// TestFlippedTail flips bits all over the last log file. Where another group follows the store must
// not open; in the last group it opens without it, because the damage looks like a write that was
// cut short.
func TestFlippedTail(t *testing.T) {
	w := wrecked(t)
	if rev, err := w.reopen(t, w.log); err != nil || rev != w.rev {
		t.Fatalf("unharmed: revision %d, want %d, %v", rev, w.rev, err)
	}
	var places []int
	for at := 0; at < len(w.log); at++ {
		// The bytes of the small groups and around the ends of blocks and the heads
		// that follow them, some of the others.
		if in := at % (32 << 10); at < 300 || at%997 == 0 || in < 40 || in > 32<<10-25 || at >= w.last-60 && at < w.last+80 {
			if at%flipStep != 0 && at != w.last {
				continue
			}
			places = append(places, at)
		}
	}
	for _, at := range places {
		log := append([]byte(nil), w.log...)
		log[at] ^= 1 << (at % 8)
		rev, err := w.reopen(t, log)
		if at < w.last {
			if !errors.Is(err, local.ErrCorrupt) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "restore") {
				t.Fatalf("byte %d of %d: revision %d, %v", at, w.last, rev, err)
			}
		} else if err != nil || rev != w.rev-1 {
			t.Fatalf("byte %d of the last group at %d: revision %d, %v", at, w.last, rev, err)
		}
	}
}

// TestTornTail cuts the last group short at every byte, and leaves the old content of a recycled
// file, zeros, or the end of the file there.
func TestTornTail(t *testing.T) {
	w := wrecked(t)
	for cut := w.last; cut < len(w.log); cut += 13 {
		for name, rest := range map[string][]byte{
			"nothing": nil,
			"zeros":   make([]byte, 70_000),
			"old":     []byte(strings.Repeat("left by another log ", 4000)),
		} {
			rev, err := w.reopen(t, append(append([]byte(nil), w.log[:cut]...), rest...))
			if err != nil || rev != w.rev-1 {
				t.Fatalf("cut at %d, then %s: revision %d, want %d, %v", cut, name, rev, w.rev-1, err)
			}
		}
	}
}

// TestTornInside loses the beginning of a group of many blocks and keeps its end,
// as a disk may that was not synced.
func TestTornInside(t *testing.T) {
	fs := vfs.NewCrashableMem()
	s := open(t, "/data", local.Options{FS: fs})
	rev := put(t, s, "/a", "1")
	_, before := lastLog(t, fs)
	put(t, s, "/b", strings.Repeat("y", 100_000))
	w := wreck{fs: fs.CrashClone(vfs.CrashCloneCfg{})}
	s.Close()
	w.name, w.log = lastLog(t, w.fs)
	for block := range 3 {
		log := append([]byte(nil), w.log...)
		at := max(len(before), block<<15)
		clear(log[at : (block+1)<<15])
		if got, err := w.reopen(t, log); err != nil || got != rev {
			t.Errorf("without block %d: revision %d, want %d, %v", block, got, rev, err)
		}
	}
}
