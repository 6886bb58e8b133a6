package local

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"fairlead.dev/storage"
)

// An engine is Pebble as a durable log: it is written in revision order, read
// once when it is opened, and emptied by compaction.
type engine struct {
	db    *pebble.DB
	lock  *pebble.Lock
	sync  *pebble.WriteOptions
	dirty atomic.Bool // written since the last sync

	// use is held for reading by whoever calls db, for writing to close it.
	use struct {
		sync.RWMutex
		closed bool
	}
}

// openEngine opens or creates dir and loads what it holds. failed hears of
// errors in the engine's background.
func openEngine(dir string, o Options, failed func(error)) (_ *engine, _ *image, err error) {
	// The lock of a directory is known by its name.
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, nil, err
	}
	marker, err := readMarker(o.FS, dir)
	if err != nil {
		return nil, nil, err
	}
	sub := o.FS.PathJoin(dir, engineDir)
	if marker == "" {
		if err := makeDir(o.FS, dir); err != nil {
			return nil, nil, err
		}
		if err := writeMarker(o.FS, dir, markerNew); err != nil {
			return nil, nil, err
		}
		marker = markerNew
	}
	if marker == markerNew {
		if err := makeDir(o.FS, sub); err != nil {
			return nil, nil, err
		}
	} else if _, err := o.FS.Stat(sub); errors.Is(err, fs.ErrNotExist) {
		return nil, nil, lostError(dir)
	}
	e := &engine{sync: pebble.NoSync}
	if o.Fsync == FsyncAlways {
		e.sync = pebble.Sync
	}
	if e.lock, err = pebble.LockDirectory(sub, o.FS); err != nil {
		var path *fs.PathError
		if errors.As(err, &path) {
			return nil, nil, err
		}
		return nil, nil, fmt.Errorf("%w: another process has %s open; stop it or choose another directory (%w)", ErrInUse, dir, err)
	}
	defer func() {
		if err != nil {
			if e.db != nil {
				e.db.Close()
			}
			e.lock.Close()
		}
	}()
	g := &guard{FS: o.FS, failed: failed}
	e.db, err = pebble.Open(sub, pebbleOptions(o, g, e.lock, marker == markerReady))
	switch {
	case errors.Is(err, pebble.ErrDBDoesNotExist):
		return nil, nil, lostError(dir)
	case pebble.IsCorruptionError(err):
		return nil, nil, corruptError(dir, err)
	case err != nil:
		return nil, nil, fmt.Errorf("opening %s: %w", dir, err)
	}
	if marker == markerNew {
		if err := e.create(o, dir); err != nil {
			return nil, nil, err
		}
	}
	img, err := e.load()
	if errors.Is(err, errRecord) || pebble.IsCorruptionError(err) {
		err = corruptError(dir, err)
	}
	if err != nil {
		return nil, nil, err
	}
	g.armed.Store(true)
	return e, img, nil
}

// create finishes a new directory.
func (e *engine) create(o Options, dir string) error {
	b := e.db.NewBatch()
	b.Set(formatKey, uint64Value(formatVersion), nil)
	if err := e.apply(b, pebble.Sync); err != nil {
		return err
	}
	return writeMarker(o.FS, dir, markerReady)
}

func lostError(dir string) error {
	return fmt.Errorf("%w: the log of %s is gone; restore the directory from a snapshot, or empty it to begin anew", ErrCorrupt, dir)
}

func corruptError(dir string, err error) error {
	return fmt.Errorf("%w: %s cannot be trusted; restore it from a snapshot (%w)", ErrCorrupt, dir, err)
}

// commit writes a group, durable as far as the options promise.
func (e *engine) commit(g *group) error {
	b := e.db.NewBatchWithSize(g.bytes + len(g.versions)*(recordKeySize+8) + 32)
	for i, v := range g.versions {
		size := recordSize(v)
		op := b.SetDeferred(recordKeySize, size)
		appendRecordKey(op.Key[:0], v.kv.ModRevision, v.sub)
		last := i+1 == len(g.versions) || g.versions[i+1].kv.ModRevision != v.kv.ModRevision
		encodeRecord(op.Value, v, last)
		if err := op.Finish(); err != nil {
			return err
		}
	}
	return e.apply(b, e.sync)
}

// apply commits b. It never goes through Pebble's waiting commit, which ends the
// process when the sync fails.
func (e *engine) apply(b *pebble.Batch, w *pebble.WriteOptions) (err error) {
	e.use.RLock()
	defer e.use.RUnlock()
	if e.use.closed {
		return storage.ErrClosed
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("engine: %v", p)
		}
	}()
	if w.Sync {
		if err := e.db.ApplyNoSyncWait(b, w); err != nil {
			return err
		}
		if err := b.SyncWait(); err != nil {
			return err
		}
	} else {
		if err := e.db.Apply(b, w); err != nil {
			return err
		}
		e.dirty.Store(true)
	}
	return b.Close()
}

// flush syncs what was written without.
func (e *engine) flush() error {
	if !e.dirty.Swap(false) {
		return nil
	}
	b := e.db.NewBatch()
	b.LogData(nil, nil)
	return e.apply(b, pebble.Sync)
}

// mark notes that all revisions up to r were committed by the time t.
func (e *engine) mark(r storage.Revision, t time.Time) error {
	b := e.db.NewBatch()
	b.Set(markKey(r), uint64Value(uint64(t.UnixNano())), nil)
	return e.apply(b, pebble.NoSync)
}

// close releases the directory. If the engine hangs it is left as it is: it has
// the directory until the process ends.
func (e *engine) close(down <-chan struct{}, failure func() error) error {
	done := make(chan error, 1)
	go func() {
		e.use.Lock()
		defer e.use.Unlock()
		e.use.closed = true
		done <- errors.Join(e.db.Close(), e.lock.Close())
	}()
	select {
	case err := <-done:
		return err
	case <-down:
		return failure()
	}
}

// diskUsage is what the directory takes, in bytes.
func (e *engine) diskUsage() uint64 {
	e.use.RLock()
	defer e.use.RUnlock()
	if e.use.closed {
		return 0
	}
	return e.db.Metrics().DiskSpaceUsage()
}
