package local

import (
	"context"
	"fmt"

	"fairlead.dev/storage"
)

// Space is made as a log-structured file system makes it. The tables of the log
// are disjoint ranges of revisions, and nothing is ever written into the range of
// a table that stands. So the cleaner takes the table, or the neighbours, in which
// most is dead, writes what is not to a new table, and puts this in their place in
// one step. Pebble's own way, a tombstone for each dead record that sinks until it
// meets it, would bind all tables to each other: one merge is then all tables at
// once, and needs as much room as there is.
//
// A record that says that its key was deleted, a grave, may go only when no older
// record of its key is on disk, or else the next Open would take that one to be
// live. Which these are is not known; but where nothing older is dead, there are
// none. The cleaner meets such graves when it goes through all tables from the
// oldest on, as it does when there are many.

// A sweep says how thorough the cleaner is.
type sweep struct {
	// share is how much of a table must be dead for it to be rewritten, one in so
	// many.
	share uint64
	// all says to go through all tables from the oldest on.
	all bool
}

// clean makes space as long as that is worth it, in turn with whoever else does.
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

// dead is a copy of what is known to be garbage.
func (c *compactor) dead() garbage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.garbage.copy()
}

// gone notes that records are off the disk.
func (c *compactor) gone(records []dead) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.garbage.remove(records)
}

// wasteful says whether there is much garbage.
func (c *compactor) wasteful() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.garbage.bytes >= max(garbageMin, uint64(c.store.kept.Load())/garbageShare)
}

// haunted says whether much of it is graves.
func (c *compactor) haunted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.garbage.graves >= max(garbageMin, uint64(c.store.kept.Load()))/graveShare
}

// makeRoom is called by the writer. It returns when there is room for more.
func (c *compactor) makeRoom() error {
	e := c.store.engine
	due, err := e.rotate(c.store.kept.Load())
	if err != nil || !due {
		return err
	}
	c.ring()
	crowded := func() bool { return e.crowded(c.store.kept.Load()) }
	if !crowded() {
		return nil
	}
	return c.clean(c.ctx, sweep{share: 8}, crowded)
}

// Defragment gives the disk all that compaction has freed, now.
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
