package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
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
// writes that fail once it is open.
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
	switch _, err := o.FS.Stat(sub); {
	case marker == markerReady && errors.Is(err, fs.ErrNotExist):
		return nil, nil, lostError(dir)
	case marker == "":
		if err := errors.Join(makeDir(o.FS, dir), writeMarker(o.FS, dir, markerNew)); err != nil {
			return nil, nil, err
		}
		fallthrough
	case marker == markerNew:
		if err := makeDir(o.FS, sub); err != nil {
			return nil, nil, err
		}
	}
	lock, err := pebble.LockDirectory(sub, o.FS)
	if err != nil {
		var path *fs.PathError
		if errors.As(err, &path) {
			return nil, nil, err
		}
		return nil, nil, fmt.Errorf("%w: another process has %s open; stop it or choose another directory (%w)", ErrInUse, dir, err)
	}
	if marker != markerReady {
		err = create(dir, sub, o, lock)
	}
	var e *engine
	var img *image
	if err == nil {
		e, img, err = open(sub, o, lock, failed)
	}
	if err == nil {
		return e, img, nil
	}
	lock.Close()
	switch {
	case errors.Is(err, pebble.ErrDBDoesNotExist):
		err = lostError(dir)
	case errors.Is(err, errRecord) || pebble.IsCorruptionError(err):
		err = corruptError(dir, err)
	default:
		err = fmt.Errorf("opening %s: %w", dir, err)
	}
	return nil, nil, err
}

// create makes a new engine directory and closes it again: only a log file that
// is begun after Pebble has settled on its format notes, as it goes, up to where
// it was synced, by which damage is told from a torn end.
func create(dir, sub string, o Options, lock *pebble.Lock) error {
	g := &guard{FS: o.FS}
	db, err := pebble.Open(sub, pebbleOptions(o, g, lock, false))
	if err != nil {
		return err
	}
	err = db.Set(formatKey, uint64Value(formatVersion), pebble.NoSync)
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	return writeMarker(o.FS, dir, markerReady)
}

// open opens an engine directory that is whole, and loads it.
func open(sub string, o Options, lock *pebble.Lock, failed func(error)) (*engine, *image, error) {
	g := &guard{FS: o.FS, failed: failed}
	db, err := pebble.Open(sub, pebbleOptions(o, g, lock, true))
	if err != nil {
		return nil, nil, err
	}
	e := &engine{db: db, lock: lock, sync: pebble.NoSync}
	if o.Fsync == FsyncAlways {
		e.sync = pebble.Sync
	}
	img, err := e.load()
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	g.armed.Store(true)
	return e, img, nil
}

func lostError(dir string) error {
	return fmt.Errorf("%w: the log of %s is gone; restore the directory from a snapshot, or empty it to begin anew", ErrCorrupt, dir)
}

func corruptError(dir string, err error) error {
	why, _, _ := strings.Cut(err.Error(), "\n")
	return fmt.Errorf("%w: %s cannot be trusted; restore it from a snapshot (%s)", ErrCorrupt, dir, why)
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

// merge rewrites the tables of what is below a revision without what is deleted.
// It is given up, without an error, when ctx ends.
func (e *engine) merge(ctx context.Context, below storage.Revision) error {
	e.use.RLock()
	defer e.use.RUnlock()
	if e.use.closed {
		return nil
	}
	err := e.db.Compact(ctx, []byte{0}, appendRecordKey(nil, below, 0), false)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// close releases the directory. It moves what is in the log file to tables, whose
// checksums leave no doubt: the next open has nothing to replay. If the engine hangs it is left as it is: it has
// the directory until the process ends.
func (e *engine) close(down <-chan struct{}, failure func() error) error {
	done := make(chan error, 1)
	go func() {
		e.use.Lock()
		defer e.use.Unlock()
		e.use.closed = true
		done <- errors.Join(e.db.Flush(), e.db.Close(), e.lock.Close())
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
