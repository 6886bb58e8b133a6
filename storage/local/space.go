package local

import (
	"context"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// The size of the directory is bounded; the package comment explains how.
const (
	logMin   = 128 << 10
	logMax   = 2 << 20
	logShare = 16 // one in so many of the kept bytes

	garbageMin   = 256 << 10
	garbageShare = 2 // likewise
	graveShare   = 8

	segmentMin   = 256 << 10
	segmentMax   = 8 << 20
	segmentShare = 16

	roomMin = 1 << 20
)

// rotate begins a new log file, and flushes the last one to a table, if that is due for a store
// with so many kept bytes. It reports whether it was due.
func (e *engine) rotate(kept int64) (due bool, err error) {
	limit := min(max(logMin, kept/logShare), logMax)
	if e.logged.Load() < limit {
		return false, nil
	}
	if e.flushing != nil {
		<-e.flushing // at most two log files hold records that are in no table
	}
	e.use.RLock()
	defer e.use.RUnlock()
	if e.use.closed {
		return false, nil
	}
	defer recovered(&err)
	e.logged.Store(0)
	e.flushing, err = e.db.AsyncFlush()
	e.flushes.Add(1)
	return true, err
}

// tidyAfter is the number of flushes after which the tables of the other records are merged.
const tidyAfter = 32

// tidy merges the tables of the records that are not part of the log, when it is time: they
// overlap, and are small.
func (e *engine) tidy(ctx context.Context) error {
	if e.flushes.Load() < tidyAfter {
		return nil
	}
	e.flushes.Store(0)
	e.use.RLock()
	defer e.use.RUnlock()
	if e.use.closed {
		return nil
	}
	err := e.db.Compact(ctx, []byte{metaPrefix}, []byte{metaPrefix, metaPrefix}, false)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// flushTables moves the records in the log file to tables.
func (e *engine) flushTables(ctx context.Context) error {
	e.use.RLock()
	defer e.use.RUnlock()
	if e.use.closed {
		return nil
	}
	done, err := e.db.AsyncFlush()
	if err != nil {
		return err
	}
	select {
	case <-done:
	case <-ctx.Done():
	}
	return nil
}

// needsSpace reports whether space must be freed before the next write, in a store with so many kept
// bytes.
func (e *engine) needsSpace(kept int64) bool {
	return e.diskUsage() > max(2*uint64(kept), uint64(kept)*3/2+roomMin)
}

// settle waits until the obsolete tables are deleted, which Pebble does soon, or until that takes
// too long.
func (e *engine) settle(ctx context.Context) {
	late := time.After(time.Second)
	for e.metrics().Table.Local.ObsoleteSize > 0 {
		select {
		case <-e.guard.Deleted:
		case <-ctx.Done():
			return
		case <-late:
			return
		}
	}
}

// diskUsage returns the size of the directory in bytes.
func (e *engine) diskUsage() uint64 { return e.metrics().DiskSpaceUsage() }

func (e *engine) metrics() *pebble.Metrics {
	e.use.RLock()
	defer e.use.RUnlock()
	if e.use.closed {
		return &pebble.Metrics{}
	}
	return e.db.Metrics()
}
