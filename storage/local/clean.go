package local

import (
	"context"
	"fmt"

	"fairlead.dev/storage"
)

// The cleaner frees space as a log-structured file system does. The tables of the log are disjoint
// ranges of revisions, and no record is ever added to the range of an existing table. So the
// cleaner takes the table, or the neighbouring tables, with the largest dead part, writes the
// remaining records to a new table, and replaces the old tables by it in one step. Pebble's own
// way, a tombstone for each dead record that sinks until it meets the record, would tie all tables
// compactTo each other: one merge would then rewrite all tables at once, and need as much space as they
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

// A sweep is the thoroughness of one call of the cleaner.
type sweep struct {
	// share: a table is rewritten if at least one in share of its bytes is dead.
	share uint64
	// all: go through all tables from the oldest on.
	all bool
}

// clean rewrites tables for as long as worth returns true. One call at a time runs.
func (c *compactor) clean(ctx context.Context, w sweep, worth func() bool) error {
	c.cleaning.Lock()
	defer c.cleaning.Unlock()
	e := c.store.engine
	after := []byte(nil)
	for more := true; more && c.store.Err() == nil && ctx.Err() == nil && worth(); e.settle(ctx) {
		var err error
		if more, err = e.cleanOnce(ctx, c, w, &after); err != nil {
			return err
		}
	}
	return nil
}

// dead returns a copy of the known garbage.
func (c *compactor) dead() garbage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.garbage.copy()
}

// removed records that records are off the disk.
func (c *compactor) removed(records []dead) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.garbage.remove(records)
}

// muchGarbage reports whether there is much garbage.
func (c *compactor) muchGarbage() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.garbage.bytes >= max(garbageMin, uint64(c.store.kept.Load())/garbageShare)
}

// manyGraves reports whether a large part of the garbage is graves.
func (c *compactor) manyGraves() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.garbage.graves >= max(garbageMin, uint64(c.store.kept.Load()))/graveShare
}

// makeRoom returns when there is room for the next write. The writer calls it.
func (c *compactor) makeRoom() error {
	e := c.store.engine
	due, err := e.rotate(c.store.kept.Load())
	if err != nil || !due {
		return err
	}
	c.ring()
	crowded := func() bool { return e.needsSpace(c.store.kept.Load()) }
	if !crowded() {
		return nil
	}
	return c.clean(c.ctx, sweep{share: 8}, crowded)
}

// Defragment returns all space that compaction has freed to the disk, now.
func (s *Store) Defragment(ctx context.Context) error {
	if s.engine == nil {
		return s.Err()
	}
	return s.await(ctx, func() error {
		err := s.engine.flushTables(ctx)
		if err == nil {
			err = s.compactor.clean(ctx, sweep{all: true}, func() bool { return true })
		}
		if err != nil {
			s.fail(err)
			err = fmt.Errorf("%w: %w", storage.ErrUnavailable, s.Err())
		}
		return err
	})
}
