package engine

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"fairlead.dev/storage"
)

// The cleaner frees space as a log-structured file system does. The tables of the log are disjoint
// ranges of revisions, and no record is ever added to the range of an existing table. So the
// cleaner takes the table, or the neighbouring tables, with the largest dead part, writes the
// remaining records to a new table, and replaces the old tables by it in one step. Pebble's own
// way, a tombstone for each dead record that sinks until it meets the record, would tie all tables
// to each other: one merge would then rewrite all tables at once, and need as much space as they
// take.
//
// A grave, the record of a deletion, may be dropped only when no older record of its key is on
// disk; otherwise the next Open would take the older record to be live. The store does not know the
// older records of each key, but if no older record at all is dead, it has no older one. The cleaner
// meets such graves when it goes through all tables from the oldest on, which it does when there
// are many.
//
// For example, with a record as revision, key and value, and the dead ones in parentheses:
//
//	table 1   (2 a=x)     3 b=y
//	table 2   (4 del a)   5 b=z
//
// Grave 4 stays while record 2 is on disk: without the grave, Open would find a=x live. Once
// table 1 has been rewritten without record 2, no record older than the grave is dead (3 is
// part of the history), and the cleaner may drop it from table 2.

// Clean rewrites the tables where it frees the most, or the first ones after after if w goes
// through all. g is a copy of the garbage. It does not change records above r, which is a published
// revision: concurrent writes have higher ones. It returns the dead records that are off the disk,
// and reports whether to continue.
func (e *Engine) Clean(ctx context.Context, r storage.Revision, g Garbage, w Sweep, after *[]byte) (gone []Dead, more bool, err error) {
	e.use.RLock()
	defer e.use.RUnlock()
	if e.use.closed {
		return nil, false, nil
	}
	defer recovered(&err)
	kept := uint64(e.kept.Load())
	tables, err := e.tables(appendRecordKey(nil, r+1, 0), g, kept)
	if err != nil {
		return nil, false, err
	}
	if w.All {
		tables = slices.DeleteFunc(tables, func(t table) bool { return bytes.Compare(t.lo, *after) < 0 })
	}
	run := pick(tables, w, min(max(segmentMin, kept/segmentShare), segmentMax))
	if len(run) == 0 {
		return nil, false, nil
	}
	lo, end := run[0].lo, run[len(run)-1].end
	gone, err = e.rewrite(ctx, lo, end, g)
	*after = end
	return gone, w.All || len(gone) > 0, err
}

// rewrite replaces the records from lo up to end by those that are not dead, in one step, and
// returns the dead ones. If ctx ends before that, the tables are unchanged.
func (e *Engine) rewrite(ctx context.Context, lo, end []byte, g Garbage) (gone []Dead, err error) {
	out := tableWriter{engine: e}
	defer func() { err = errors.Join(err, out.discard()) }()
	it, err := e.db.NewIter(&pebble.IterOptions{LowerBound: lo, UpperBound: end})
	if err != nil {
		return nil, err
	}
	graves := g.mayBury(lo)
	for it.First(); it.Valid() && ctx.Err() == nil; it.Next() {
		if d, ok := g.records.Get(deadAt(it.Key())); ok && (graves || !d.grave) {
			gone = append(gone, d)
			continue
		}
		value, err := it.ValueAndErr()
		if err == nil {
			err = out.add(it.Key(), value)
		}
		if err != nil {
			return nil, errors.Join(err, it.Close())
		}
	}
	if err := errors.Join(it.Close(), out.finish()); err != nil || len(gone) == 0 || ctx.Err() != nil {
		return nil, err
	}
	span := pebble.KeyRange{Start: lo, End: end}
	if len(out.paths) == 0 {
		err = e.db.Excise(context.Background(), span)
	} else {
		_, err = e.db.IngestAndExcise(context.Background(), out.paths, nil, nil, span)
	}
	if err != nil {
		return nil, err
	}
	out.paths = nil
	return gone, nil
}
