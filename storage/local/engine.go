package local

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"fairlead.dev/storage"

	"fairlead.dev/internal/storage/datadir"
	"fairlead.dev/internal/storage/guard"
)

// An engine is Pebble as a durable log: written in revision order, read once when it is opened, and
// emptied by compaction.
type engine struct {
	db      *pebble.DB
	dir     string
	options *pebble.Options
	// progress, if not nil, is called with the number of records loaded.
	progress func(records int64)
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

	// use is held for reading by callers of db, for writing to close it.
	use struct {
		sync.RWMutex
		closed bool
	}
}

// commit writes a group, as durable as the options promise.
func (e *engine) commit(g *group) error {
	b := e.db.NewBatchWithSize(g.bytes + len(g.versions)*(recordKeySize+8) + 64)
	e.note(b)
	for i, v := range g.versions {
		size := recordSize(v)
		op := b.SetDeferred(recordKeySize, size)
		appendRecordKey(op.Key[:0], v.kv().ModRevision, v.sub)
		last := i+1 == len(g.versions) || g.versions[i+1].kv().ModRevision != v.kv().ModRevision
		encodeRecord(op.Value, v, last)
		if err := op.Finish(); err != nil {
			return err
		}
	}
	for _, l := range g.leases {
		if l.TTL == 0 {
			b.Delete(leaseKey(l.ID), nil)
		} else {
			b.Set(leaseKey(l.ID), uint64Value(uint64(l.TTL/time.Second)), nil)
		}
	}
	w := e.sync
	if !g.sync && len(g.leases) == 0 {
		w = pebble.NoSync
	}
	if err := e.apply(b, w); err != nil {
		return err
	}
	if len(g.versions) > 0 {
		e.written.Store(int64(g.rev))
	}
	if !w.Sync {
		return nil
	}
	return e.acknowledge(e.written.Load())
}

// acknowledge notes that all records up to a revision are on disk.
func (e *engine) acknowledge(rev int64) error {
	n := e.guard.Synced.Load()
	if n == nil {
		return nil
	}
	return e.witness.Note(n.Log, storage.Revision(rev))
}

// apply commits b. It avoids Pebble's waiting commit, which ends the process when the sync fails.
func (e *engine) apply(b *pebble.Batch, w *pebble.WriteOptions) (err error) {
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
func (e *engine) note(b *pebble.Batch) bool {
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

// flush syncs the records that were written without a sync.
func (e *engine) flush() error {
	if !e.dirty.Swap(false) {
		return nil
	}
	b := e.db.NewBatch()
	if !e.note(b) {
		b.LogData(nil, nil)
	}
	rev := e.written.Load()
	if err := e.apply(b, pebble.Sync); err != nil {
		return err
	}
	return e.acknowledge(rev)
}

// mark records that all revisions up to r were committed by the time t. It is synced as commits
// are, so that a record follows the last of them (see datadir.CheckTail).
func (e *engine) mark(r storage.Revision, t time.Time) error {
	b := e.db.NewBatch()
	e.note(b)
	b.Set(markKey(r), uint64Value(uint64(t.UnixNano())), nil)
	if err := e.apply(b, e.sync); err != nil || !e.sync.Sync {
		return err
	}
	return e.witness.Sync()
}

// close releases the directory. It moves the records in the log file to tables, whose checksums
// leave no doubt: the next open has no log to replay. If the engine hangs it keeps the directory
// until the process ends.
func (e *engine) close(down <-chan struct{}, failure func() error) error {
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
