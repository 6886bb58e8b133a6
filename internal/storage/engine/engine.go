package engine

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"fairlead.dev/storage"

	"fairlead.dev/internal/storage/datadir"
	"fairlead.dev/internal/storage/guard"
)

// An Engine is Pebble as a durable log: written in revision order, read once when it is opened, and
// emptied by compaction.
type Engine struct {
	db       *pebble.DB
	dir      string
	options  *pebble.Options
	progress func(done, total int64) // of Options; nil without
	lock     *pebble.Lock
	sync     *pebble.WriteOptions
	guard    *guard.FS
	witness  *datadir.Witness
	dirty    atomic.Bool // written since the last sync
	// written is the last revision that was written, synced or not.
	written atomic.Int64
	// logged is the approximate size of the log file.
	logged atomic.Int64
	// flushing is closed when the records of the last log file are in a table. The writer owns it.
	flushing <-chan struct{}
	// flushes counts the flushes since the last tidy.
	flushes atomic.Int64
	// kept is the size of the records that are not garbage.
	kept atomic.Int64

	// use is held for reading by callers of db, for writing to close it.
	use struct {
		sync.RWMutex
		closed bool
	}
}

// apply commits b. It avoids Pebble's waiting commit, which ends the process when the sync fails.
func (e *Engine) apply(b *pebble.Batch, w *pebble.WriteOptions) (err error) {
	e.use.RLock()
	defer e.use.RUnlock()
	if e.use.closed {
		return storage.ErrClosed
	}
	defer recovered(&err)
	e.logged.Add(int64(b.Len()))
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

// note puts the note of how much of the log file is on disk at the beginning of a batch.
func (e *Engine) note(b *pebble.Batch) bool {
	n := e.guard.Synced.Load()
	if n == nil {
		return false
	}
	buf := n.Encode()
	return b.LogData(buf[:], nil) == nil
}

// recovered turns a panic of Pebble's into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("engine: %v", p)
	}
}

// Close releases the directory. It moves the records in the log file to tables, whose checksums
// leave no doubt: the next open has no log to replay. If the engine hangs it keeps the directory
// until the process ends.
func (e *Engine) Close(down <-chan struct{}, failure func() error) error {
	done := make(chan error, 1)
	go func() {
		e.use.Lock()
		defer e.use.Unlock()
		e.use.closed = true
		done <- errors.Join(e.db.Flush(), e.db.Close(), e.witness.Close(), e.lock.Close())
	}()
	select {
	case err := <-done:
		return err
	case <-down:
		return failure()
	}
}

// Kept returns the size of the records that are not garbage.
func (e *Engine) Kept() int64 { return e.kept.Load() }
