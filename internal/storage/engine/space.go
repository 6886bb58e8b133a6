package engine

import (
	"context"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// The size of the directory is bounded; the comment of package storage/local explains how.
const (
	logMin   = 128 << 10
	logMax   = 2 << 20
	logShare = 16 // one in so many of the kept bytes

	segmentMin   = 256 << 10
	segmentMax   = 8 << 20
	segmentShare = 16

	roomMin = 1 << 20
)

// Rotate begins a new log file, and flushes the last one to a table, if that is due. It reports
// whether it was due.
func (e *Engine) Rotate() (due bool, err error) {
	limit := min(max(logMin, e.kept.Load()/logShare), logMax)
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

// Tidy merges the tables of the records that are not part of the log, when it is time: they
// overlap, and are small.
func (e *Engine) Tidy(ctx context.Context) error {
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

// FlushTables moves the records in the log file to tables.
func (e *Engine) FlushTables(ctx context.Context) error {
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

// NeedsSpace reports whether space must be freed before the next write.
func (e *Engine) NeedsSpace() bool {
	kept := e.kept.Load()
	return e.DiskUsage() > max(2*uint64(kept), uint64(kept)*3/2+roomMin)
}

// Settle waits until the obsolete tables are deleted, which Pebble does soon, or until that takes
// too long.
func (e *Engine) Settle(ctx context.Context) {
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

// DiskUsage returns the size of the directory in bytes.
func (e *Engine) DiskUsage() uint64 { return e.metrics().DiskSpaceUsage() }

func (e *Engine) metrics() *pebble.Metrics {
	e.use.RLock()
	defer e.use.RUnlock()
	if e.use.closed {
		return &pebble.Metrics{}
	}
	return e.db.Metrics()
}
