package guard

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"

	"fairlead.dev/internal/storage/datadir"
)

// An FS stands between Pebble and the file system, and hides every failed write from Pebble once
// the store is open. Pebble answers some of them by ending the process (it cannot make a new log
// file, say) and others by retrying, and the success of a second fsync after a failed one proves
// little. The store must do neither: so the guard reports the failure to the store, and blocks the
// goroutine that met it forever. No more is written, readers never come here, and a restart finds
// every acknowledged write. A failed sync is handled this way in Open too, where Pebble would
// panic; other errors there are returned.
type FS struct {
	vfs.FS
	// Fail reports a failure to the store, and to Attempt.
	Fail func(error)
	// down holds the first failure.
	down chan error
	// Armed is set when the store is open: from then on failures are kept from Pebble.
	Armed atomic.Bool
	// Broken is set when a write has failed.
	Broken atomic.Bool
	// Synced is how far the log file is known to be on disk.
	Synced atomic.Pointer[datadir.SyncNote]
	// Deleted rings when a table was deleted.
	Deleted chan struct{}
}

// New makes an FS over f; failed may be nil.
func New(f vfs.FS, failed func(error)) *FS {
	g := &FS{FS: f, down: make(chan error, 1), Deleted: make(chan struct{}, 1)}
	g.Fail = func(err error) {
		select {
		case g.down <- err:
		default:
		}
		if failed != nil {
			failed(err)
		}
	}
	return g
}

// ErrStuck: Pebble met an error at which it would end the process. Its goroutine is blocked, with
// the directory locked.
var ErrStuck = errors.New("the disk failed, restart when the cause is mended")

// Attempt runs f, a call of Pebble that may never return, while the store is opened.
func (g *FS) Attempt(f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case err := <-g.down:
		return fmt.Errorf("%w: %w", ErrStuck, err)
	}
}

// TableDeleted rings Deleted.
func (g *FS) TableDeleted() {
	select {
	case g.Deleted <- struct{}{}:
	default:
	}
}

// stop does not return if err is an error of an open store.
func (g *FS) stop(what, name string, err error) {
	if err != nil && g.Armed.Load() {
		g.halt(what, name, err)
	}
}

// halt does not return if err is not nil.
func (g *FS) halt(what, name string, err error) {
	if err == nil {
		return
	}
	g.Broken.Store(true)
	err = fmt.Errorf("%s %s: %w", what, name, err)
	if what == syncing {
		err = fmt.Errorf("%w: %w", ErrSync, err)
	}
	g.Fail(err)
	select {}
}

const syncing = "syncing"

// ErrSync: the written bytes may or may not be on disk, and there is no way to find out.
var ErrSync = errors.New("a sync failed")

func (g *FS) wrap(f vfs.File, name string, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	n, _ := datadir.LogNumber(name)
	return &file{File: f, guard: g, name: name, log: n}, nil
}

func (g *FS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := g.FS.Create(name, c)
	g.stop("creating", name, err)
	return g.wrap(f, name, err)
}

func (g *FS) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := g.FS.ReuseForWrite(old, name, c)
	g.stop("creating", name, err)
	return g.wrap(f, name, err)
}

func (g *FS) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	f, err := g.FS.OpenReadWrite(name, c, opts...)
	return g.wrap(f, name, err)
}

func (g *FS) OpenDir(name string) (vfs.File, error) {
	f, err := g.FS.OpenDir(name)
	return g.wrap(f, name, err)
}

func (g *FS) Rename(old, name string) error {
	err := g.FS.Rename(old, name)
	g.stop("renaming", name, err)
	return err
}

func (g *FS) Link(old, name string) error {
	err := g.FS.Link(old, name)
	g.stop("linking", name, err)
	return err
}

func (g *FS) Unwrap() vfs.FS { return g.FS }

// A file also counts the bytes written to a log file, which one goroutine does at a time,
// and limits the space that Pebble reserves for it.
type file struct {
	vfs.File
	guard *FS
	name  string
	log   uint64 // its number, 0 for other files
	size  int64  // written
	// reserved is the space reserved, wanted the space that Pebble asked for.
	reserved, wanted int64
}

// reserveStep is the space reserved at once. Pebble would reserve a whole memtable, which is much
// for a store that does little.
const reserveStep = 128 << 10

func (f *file) Preallocate(offset, length int64) error {
	f.wanted = offset + length
	return nil
}

func (f *file) Write(b []byte) (int, error) {
	for f.reserved < min(f.wanted, f.size+int64(len(b))) {
		if f.File.Preallocate(f.reserved, reserveStep) != nil {
			f.wanted = 0 // reserving is optional
			break
		}
		f.reserved += reserveStep
	}
	n, err := f.File.Write(b)
	f.guard.stop("writing", f.name, err)
	f.size += int64(n)
	return n, err
}

// durable records that the first bytes of a log file are on disk.
func (f *file) durable(size int64, err error) {
	if f.log != 0 && err == nil {
		f.guard.Synced.Store(&datadir.SyncNote{Log: f.log, Size: size})
	}
}

func (f *file) WriteAt(b []byte, at int64) (int, error) {
	n, err := f.File.WriteAt(b, at)
	f.guard.stop("writing", f.name, err)
	return n, err
}

func (f *file) Sync() error {
	size := f.size
	err := f.File.Sync()
	f.guard.halt(syncing, f.name, err)
	f.durable(size, err)
	return err
}

func (f *file) SyncData() error {
	size := f.size
	err := f.File.SyncData()
	f.guard.halt(syncing, f.name, err)
	f.durable(size, err)
	return err
}

func (f *file) SyncTo(length int64) (bool, error) {
	size := f.size
	full, err := f.File.SyncTo(length)
	f.guard.halt(syncing, f.name, err)
	if full {
		f.durable(size, err)
	}
	return full, err
}
