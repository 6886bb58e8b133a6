package local

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A guard stands between Pebble and the file system, and hides every failed write from Pebble once
// the store is open. Pebble answers some of them by ending the process (it cannot make a new log
// file, say) and others by retrying, and the success of a second fsync after a failed one proves
// little. The store must do neither: so the guard reports the failure to the store, and blocks the
// goroutine that met it forever. No more is written, readers never come here, and a restart finds
// every acknowledged write. A failed sync is handled this way in Open too, where Pebble would
// panic; other errors there are returned.
type guard struct {
	vfs.FS
	failed func(error)
	// down holds the first failure.
	down   chan error
	armed  atomic.Bool
	broken atomic.Bool
	// synced is how far the log file is known to be on disk.
	synced atomic.Pointer[syncNote]
	// removed rings when a table was deleted.
	gone chan struct{}
}

// newGuard makes a guard of f; failed may be nil.
func newGuard(f vfs.FS, failed func(error)) *guard {
	g := &guard{FS: f, down: make(chan error, 1), gone: make(chan struct{}, 1)}
	g.failed = func(err error) {
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

// errStuck: Pebble met an error at which it would end the process. Its goroutine is blocked, with
// the directory locked.
var errStuck = errors.New("the disk failed, restart when the cause is mended")

// attempt runs f, a call of Pebble that may never return, while the store is opened.
func (g *guard) attempt(f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case err := <-g.down:
		return fmt.Errorf("%w: %w", errStuck, err)
	}
}

func (g *guard) deleted() {
	select {
	case g.gone <- struct{}{}:
	default:
	}
}

// stop does not return if err is an error of an open store.
func (g *guard) stop(what, name string, err error) {
	if err != nil && g.armed.Load() {
		g.halt(what, name, err)
	}
}

// halt does not return if err is not nil.
func (g *guard) halt(what, name string, err error) {
	if err == nil {
		return
	}
	g.broken.Store(true)
	err = fmt.Errorf("%s %s: %w", what, name, err)
	if what == syncing {
		err = fmt.Errorf("%w: %w", errSync, err)
	}
	g.failed(err)
	select {}
}

const syncing = "syncing"

// errSync: the written bytes may or may not be on disk, and there is no way to find out.
var errSync = errors.New("a sync failed")

func (g *guard) wrap(f vfs.File, name string, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	n, _ := logNumber(name)
	return &guardedFile{File: f, guard: g, name: name, log: n}, nil
}

func (g *guard) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := g.FS.Create(name, c)
	g.stop("creating", name, err)
	return g.wrap(f, name, err)
}

func (g *guard) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := g.FS.ReuseForWrite(old, name, c)
	g.stop("creating", name, err)
	return g.wrap(f, name, err)
}

func (g *guard) OpenReadWrite(name string, c vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	f, err := g.FS.OpenReadWrite(name, c, opts...)
	return g.wrap(f, name, err)
}

func (g *guard) OpenDir(name string) (vfs.File, error) {
	f, err := g.FS.OpenDir(name)
	return g.wrap(f, name, err)
}

func (g *guard) Rename(old, name string) error {
	err := g.FS.Rename(old, name)
	g.stop("renaming", name, err)
	return err
}

func (g *guard) Link(old, name string) error {
	err := g.FS.Link(old, name)
	g.stop("linking", name, err)
	return err
}

func (g *guard) Unwrap() vfs.FS { return g.FS }

// A guardedFile also counts the bytes written to a log file, which one goroutine does at a time,
// and limits the space that Pebble reserves for it.
type guardedFile struct {
	vfs.File
	guard *guard
	name  string
	log   uint64 // its number, 0 for other files
	size  int64  // written
	// reserved is the space reserved, wanted the space that Pebble asked for.
	reserved, wanted int64
}

// reserveStep is the space reserved at once. Pebble would reserve a whole memtable, which is much
// for a store that does little.
const reserveStep = 128 << 10

func (f *guardedFile) Preallocate(offset, length int64) error {
	f.wanted = offset + length
	return nil
}

func (f *guardedFile) Write(b []byte) (int, error) {
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
func (f *guardedFile) durable(size int64, err error) {
	if f.log != 0 && err == nil {
		f.guard.synced.Store(&syncNote{log: f.log, size: size})
	}
}

func (f *guardedFile) WriteAt(b []byte, at int64) (int, error) {
	n, err := f.File.WriteAt(b, at)
	f.guard.stop("writing", f.name, err)
	return n, err
}

func (f *guardedFile) Sync() error {
	size := f.size
	err := f.File.Sync()
	f.guard.halt(syncing, f.name, err)
	f.durable(size, err)
	return err
}

func (f *guardedFile) SyncData() error {
	size := f.size
	err := f.File.SyncData()
	f.guard.halt(syncing, f.name, err)
	f.durable(size, err)
	return err
}

func (f *guardedFile) SyncTo(length int64) (bool, error) {
	size := f.size
	full, err := f.File.SyncTo(length)
	f.guard.halt(syncing, f.name, err)
	if full {
		f.durable(size, err)
	}
	return full, err
}
