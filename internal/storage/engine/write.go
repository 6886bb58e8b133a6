package engine

import (
	"time"

	"github.com/cockroachdb/pebble/v2"

	"fairlead.dev/storage"

	"fairlead.dev/internal/storage/mvcc"
)

// Commit writes a group, as durable as the options promise.
func (e *Engine) Commit(g *Group) error {
	b := e.db.NewBatchWithSize(g.Bytes + len(g.Versions)*(recordKeySize+8) + 64)
	e.note(b)
	for i, v := range g.Versions {
		size := recordSize(v)
		op := b.SetDeferred(recordKeySize, size)
		appendRecordKey(op.Key[:0], v.KV().ModRevision, v.Sub)
		last := i+1 == len(g.Versions) || g.Versions[i+1].KV().ModRevision != v.KV().ModRevision
		encodeRecord(op.Value, v, last)
		if err := op.Finish(); err != nil {
			return err
		}
	}
	for _, l := range g.Leases {
		if l.TTL == 0 {
			b.Delete(leaseKey(l.ID), nil)
		} else {
			b.Set(leaseKey(l.ID), uint64Value(uint64(l.TTL/time.Second)), nil)
		}
	}
	w := e.sync
	if !g.Sync && len(g.Leases) == 0 {
		w = pebble.NoSync
	}
	if err := e.apply(b, w); err != nil {
		return err
	}
	if len(g.Versions) > 0 {
		e.written.Store(int64(g.Rev))
	}
	if w.Sync {
		if err := e.acknowledge(e.written.Load()); err != nil {
			return err
		}
	}
	e.kept.Add(int64(g.Bytes))
	return nil
}

// acknowledge notes that all records up to a revision are on disk.
func (e *Engine) acknowledge(rev int64) error {
	n := e.guard.Synced.Load()
	if n == nil {
		return nil
	}
	return e.witness.Note(n.Log, storage.Revision(rev))
}

// Flush syncs the records that were written without a sync.
func (e *Engine) Flush() error {
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

// Mark records that all revisions up to r were committed by the time t. It is synced as commits
// are, so that a record follows the last of them (see datadir.CheckTail).
func (e *Engine) Mark(r storage.Revision, t time.Time) error {
	b := e.db.NewBatch()
	e.note(b)
	b.Set(markKey(r), uint64Value(uint64(t.UnixNano())), nil)
	if err := e.apply(b, e.sync); err != nil || !e.sync.Sync {
		return err
	}
	return e.witness.Sync()
}

// Bound writes the bound of a compaction to disk and drops old marks.
func (e *Engine) Bound(r storage.Revision, old []Mark) error {
	b := e.db.NewBatch()
	e.note(b)
	b.Set(compactedKey, uint64Value(uint64(r)), nil)
	for _, m := range old {
		b.Delete(markKey(m.Rev), nil)
	}
	return e.apply(b, pebble.Sync)
}

// Discard adds the record of v to g.
func (e *Engine) Discard(v *mvcc.Version, g *Garbage) {
	g.add(v)
	e.kept.Add(-int64(recordSize(v)))
}
