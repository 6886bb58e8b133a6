package local

import (
	"context"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// What the directory takes is bounded; the package comment says how. The largest
// moment is a merge: what is there, limited by crowded, and all that is kept once
// more.
const (
	logMin   = 256 << 10
	logMax   = 2 << 20
	logShare = 32 // of what is kept, one in so many

	garbageMin   = 1 << 20
	garbageShare = 4 // likewise

	roomMin = 4 << 20 // beside what is kept
)

// rotate begins a new log file, and flushes the last to a table, if that is due
// for a store that keeps so much. It reports whether it was.
func (e *engine) rotate(kept int64) (due bool, err error) {
	limit := min(max(logMin, kept/logShare), logMax)
	if e.logged.Load() < limit {
		return false, nil
	}
	e.use.RLock()
	defer e.use.RUnlock()
	if e.use.closed {
		return false, nil
	}
	defer recovered(&err)
	e.logged.Store(0)
	_, err = e.db.AsyncFlush()
	return true, err
}

// crowded says whether a merge must come before more is written, in a store that
// keeps so much.
func (e *engine) crowded(kept int64) bool {
	limit := max(uint64(kept)*8/5, uint64(kept)+roomMin)
	// A merge that left much has nothing more to give until more is there.
	limit = max(limit, e.merged.Load()+uint64(kept)/garbageShare)
	return e.standing() > limit
}

// standing is what the directory takes without the tables that are being written.
func (e *engine) standing() uint64 {
	m := e.metrics()
	return m.DiskSpaceUsage() - uint64(m.Compact.InProgressBytes)
}

// settle waits until the tables that nobody needs are deleted, which Pebble does
// soon, or until that takes too long.
func (e *engine) settle(ctx context.Context) {
	late := time.After(time.Second)
	for e.metrics().Table.Local.ObsoleteSize > 0 {
		select {
		case <-e.guard.gone:
		case <-ctx.Done():
			return
		case <-late:
			return
		}
	}
}

// diskUsage is what the directory takes, in bytes.
func (e *engine) diskUsage() uint64 { return e.metrics().DiskSpaceUsage() }

func (e *engine) metrics() *pebble.Metrics {
	e.use.RLock()
	defer e.use.RUnlock()
	if e.use.closed {
		return &pebble.Metrics{}
	}
	return e.db.Metrics()
}
