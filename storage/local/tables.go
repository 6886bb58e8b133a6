package local

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"fairlead.dev/storage"
)

// A table is a part of the log on disk: the records from lo up to end, without end.
type table struct {
	lo, end []byte
	// size is the approximate size of its records, dead that of those that may be dropped.
	size, dead uint64
}

// cleanOnce rewrites the tables where it frees the most, or the first ones after after if w goes
// through all. It reports whether to continue. It does not change records above the revision that
// is published when it begins: concurrent writes have higher ones.
func (e *engine) cleanOnce(ctx context.Context, c *compactor, w sweep, after *[]byte) (more bool, err error) {
	e.use.RLock()
	defer e.use.RUnlock()
	if e.use.closed {
		return false, nil
	}
	defer recovered(&err)
	kept := uint64(c.store.kept.Load())
	end := appendRecordKey(nil, c.store.Revision()+1, 0)
	g := c.dead()
	tables, err := e.tables(end, g, kept)
	if err != nil {
		return false, err
	}
	if w.all {
		tables = slices.DeleteFunc(tables, func(t table) bool { return bytes.Compare(t.lo, *after) < 0 })
	}
	run := pick(tables, w, min(max(segmentMin, kept/segmentShare), segmentMax))
	if len(run) == 0 {
		return false, nil
	}
	lo, end := run[0].lo, run[len(run)-1].end
	gone, err := e.rewrite(ctx, lo, end, g)
	c.removed(gone)
	*after = end
	return w.all || len(gone) > 0, err
}

// tables lists the tables of the log below end in its order. Overlapping ones count as one.
func (e *engine) tables(end []byte, g garbage, kept uint64) ([]table, error) {
	levels, err := e.db.SSTables()
	if err != nil {
		return nil, err
	}
	var all []table
	sum := uint64(1)
	for _, t := range slices.Concat(levels...) {
		if bytes.Compare(t.Smallest.UserKey, end) >= 0 {
			continue
		}
		all = append(all, table{lo: t.Smallest.UserKey, end: append(slices.Clone(t.Largest.UserKey), 0), size: t.Size})
		sum += t.Size
	}
	slices.SortFunc(all, func(a, b table) int { return bytes.Compare(a.lo, b.lo) })
	out := all[:0]
	for _, t := range all {
		t.size = max(1, uint64(float64(t.size)*float64(kept+g.bytes)/float64(sum))) // as if not compressed
		if bytes.Compare(t.end, end) > 0 {
			t.end = end
		}
		if n := len(out); n > 0 && bytes.Compare(t.lo, out[n-1].end) < 0 {
			if out[n-1].size += t.size; bytes.Compare(out[n-1].end, t.end) < 0 {
				out[n-1].end = t.end
			}
			continue
		}
		out = append(out, t)
	}
	for i := range out {
		t := &out[i]
		graves := g.mayBury(t.lo)
		g.records.Ascend(deadAt(t.lo), func(d dead) bool {
			if !d.less(deadAt(t.end)) {
				return false
			}
			if graves || !d.grave {
				t.dead += uint64(d.size)
			}
			return true
		})
	}
	return out, nil
}

// pick chooses neighbouring tables to be rewritten as one: those with the largest dead part or, if
// w goes through all, the first with any. It takes so many that about a segment remains of them.
func pick(ts []table, w sweep, segment uint64) []table {
	best := -1
	for i, t := range ts {
		switch {
		case t.dead == 0 || !w.all && t.dead*w.share < t.size:
		case best < 0 || float64(t.dead)/float64(t.size) > float64(ts[best].dead)/float64(ts[best].size):
			best = i
		}
		if w.all && best >= 0 {
			break
		}
	}
	if best < 0 {
		return nil
	}
	left := ts[best].live()
	joins := func(t table) bool {
		if left+t.live() > segment || t.dead*6 < t.size && t.size*4 > segment {
			return false
		}
		left += t.live()
		return true
	}
	i, j := best, best+1
	for j < len(ts) && joins(ts[j]) {
		j++
	}
	for !w.all && i > 0 && joins(ts[i-1]) {
		i--
	}
	return ts[i:j]
}

func (t table) live() uint64 { return t.size - min(t.size, t.dead) }

// deadAt returns the dead record with the place of a key of the log.
func deadAt(key []byte) dead {
	d := dead{rev: storage.Revision(binary.BigEndian.Uint64(key))}
	if len(key) >= recordKeySize {
		d.sub = binary.BigEndian.Uint32(key[8:])
	}
	if len(key) > recordKeySize {
		d.sub++
	}
	return d
}

// rewrite replaces the records from lo up to end by those that are not dead, in one step, and
// returns the dead ones. If ctx ends before that, the tables are unchanged.
func (e *engine) rewrite(ctx context.Context, lo, end []byte, g garbage) (gone []dead, err error) {
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

// A tableWriter writes tables for Pebble to ingest.
type tableWriter struct {
	engine *engine
	open   *sstable.Writer
	paths  []string
}

// cleanName is the name of their files until then.
const cleanName = "clean-%d.tmp"

func (w *tableWriter) add(key, value []byte) error {
	if w.open == nil {
		e := w.engine
		path := e.guard.PathJoin(e.dir, fmt.Sprintf(cleanName, len(w.paths)))
		f, err := e.guard.Create(path, vfs.WriteCategoryUnspecified)
		if err != nil {
			return err
		}
		w.paths = append(w.paths, path)
		w.open = sstable.NewWriter(objstorageprovider.NewFileWritable(f), e.options.MakeWriterOptions(len(e.options.Levels)-1, e.db.TableFormat()))
	}
	if err := w.open.Set(key, value); err != nil {
		return err
	}
	if w.open.Raw().EstimatedSize() < 2*segmentMax {
		return nil
	}
	return w.finish()
}

func (w *tableWriter) finish() error {
	if w.open == nil {
		return nil
	}
	err := w.open.Close()
	w.open = nil
	return err
}

// discard removes the files that were not ingested.
func (w *tableWriter) discard() error {
	if w.open != nil {
		w.open.Close()
	}
	var err error
	for _, path := range w.paths {
		err = errors.Join(err, w.engine.guard.Remove(path))
	}
	return err
}

// removeTemps removes the files of a tableWriter that a crash left.
func removeTemps(f vfs.FS, dir string) error {
	names, err := f.List(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		var n int
		if _, no := fmt.Sscanf(name, cleanName, &n); no == nil {
			err = errors.Join(err, f.Remove(f.PathJoin(dir, name)))
		}
	}
	return err
}
