package local

import (
	"context"
	"sync"

	"fairlead.dev/internal/storage/engine"
)

// The cleaner frees the space of the compactor's garbage: engine.Engine.Clean explains how. Its
// goroutine runs when there may be enough garbage; the writer and Defragment run it too.
type cleaner struct {
	engine    *engine.Engine
	compactor *compactor
	published *published
	failure   *failure
	ctx       context.Context // ends with upkeep.stop
	// cleaning is held while tables are rewritten. Taken before compactor.mu.
	cleaning sync.Mutex
}

// run is the cleaner's goroutine: it rewrites tables whenever there is enough garbage.
func (c *cleaner) run() {
	for c.failure.err() == nil {
		select {
		case <-c.ctx.Done():
			return
		case <-c.compactor.bell:
		}
		err := c.engine.Tidy(c.ctx)
		if err == nil {
			err = c.clean(c.ctx, engine.Sweep{Share: 4}, c.compactor.muchGarbage)
		}
		if err == nil && c.compactor.manyGraves() {
			err = c.cleanAll(c.ctx)
		}
		if err != nil {
			c.failure.fail(err)
		}
	}
}

// cleanAll rewrites all tables that hold garbage.
func (c *cleaner) cleanAll(ctx context.Context) error {
	return c.clean(ctx, engine.Sweep{All: true}, func() bool { return true })
}

// clean rewrites tables for as long as worth returns true. One call at a time runs.
func (c *cleaner) clean(ctx context.Context, w engine.Sweep, worth func() bool) error {
	c.cleaning.Lock()
	defer c.cleaning.Unlock()
	after := []byte(nil)
	for more := true; more && c.failure.err() == nil && ctx.Err() == nil && worth(); c.engine.Settle(ctx) {
		var gone []engine.Dead
		var err error
		rev := c.published.state.Load().rev
		gone, more, err = c.engine.Clean(ctx, rev, c.compactor.dead(), w, &after)
		c.compactor.removed(gone)
		if err != nil {
			return err
		}
	}
	return nil
}

// makeRoom returns when there is room for the next write. The writer calls it.
func (c *cleaner) makeRoom() error {
	due, err := c.engine.Rotate()
	if err != nil || !due {
		return err
	}
	c.compactor.ring()
	if !c.engine.NeedsSpace() {
		return nil
	}
	return c.clean(c.ctx, engine.Sweep{Share: 8}, c.engine.NeedsSpace)
}

// defragment returns all space that compaction has freed to the disk, now.
func (c *cleaner) defragment(ctx context.Context) error {
	if err := c.engine.FlushTables(ctx); err != nil {
		return err
	}
	return c.cleanAll(ctx)
}
