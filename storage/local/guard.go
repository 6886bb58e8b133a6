package local

import (
	"fmt"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A guard stands between Pebble and the file system, and lets no failed write
// through once the store is open. Pebble answers some of them by ending the
// process (it cannot make a new log file, say) and others by trying again, and
// what a second fsync says after one that failed is worth nothing. The store must
// do neither: so the guard tells it, and keeps the goroutine that met the failure
// for good. Nothing more is written, readers never come here, and a restart finds
// what was acknowledged.
type guard struct {
	vfs.FS
	failed func(error)
	armed  atomic.Bool
	broken atomic.Bool
}

// stop does not return if err is an error of an open store.
func (g *guard) stop(what, name string, err error) {
	if err == nil || !g.armed.Load() {
		return
	}
	g.broken.Store(true)
	g.failed(fmt.Errorf("%s %s: %w", what, name, err))
	select {}
}

func (g *guard) wrap(f vfs.File, name string, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return &guardedFile{File: f, guard: g, name: name}, nil
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

type guardedFile struct {
	vfs.File
	guard *guard
	name  string
}

func (f *guardedFile) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	f.guard.stop("writing", f.name, err)
	return n, err
}

func (f *guardedFile) WriteAt(b []byte, at int64) (int, error) {
	n, err := f.File.WriteAt(b, at)
	f.guard.stop("writing", f.name, err)
	return n, err
}

func (f *guardedFile) Sync() error {
	err := f.File.Sync()
	f.guard.stop("syncing", f.name, err)
	return err
}

func (f *guardedFile) SyncData() error {
	err := f.File.SyncData()
	f.guard.stop("syncing", f.name, err)
	return err
}

func (f *guardedFile) SyncTo(length int64) (bool, error) {
	full, err := f.File.SyncTo(length)
	f.guard.stop("syncing", f.name, err)
	return full, err
}
