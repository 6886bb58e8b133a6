package local

import (
	"sync/atomic"

	"fairlead.dev/trace"

	"fairlead.dev/internal/storage/engine"
)

// The committer is two goroutines. The former takes the queued calls, tries them against the
// working state and gathers them in a group; the writer writes a group to the engine with one sync
// and publishes it. While the writer is busy the former continues with the next group, so that a
// group holds all calls that came during one sync. In memory the former publishes the groups
// itself.
//
// Trying against unwritten state is safe because a call is not answered before the state that it
// has read is durable: the answer to a failed condition, too, waits for the groups it was read
// from. If a group cannot be written, no later group is.
type committer struct {
	queue     *queue
	working   *working
	published *published
	failure   *failure
	packer    *packer
	engine    *engine.Engine // nil if in memory only, as is cleaner
	cleaner   *cleaner
	trace     *trace.Log // may be nil

	formed chan *group
	done   chan struct{} // closed by the goroutine that publishes, which ends last

	// commits counts the calls answered, groups the groups with changes.
	commits, groups atomic.Int64
}

func (c *committer) start() {
	c.formed, c.done = make(chan *group), make(chan struct{})
	go c.form()
	if c.engine != nil {
		go c.write()
	}
}

// wait returns when all calls that were queued before queue.close are finished, or when the engine
// hangs.
func (c *committer) wait() {
	select {
	case <-c.done:
	case <-c.failure.down:
	}
}

// form is the former's goroutine.
func (c *committer) form() {
	var g *group
	var spare []*call
	closed := false
	for g != nil || !closed {
		bell, formed := c.queue.bell, c.formed
		if g == nil {
			formed = nil
		} else if g.Bytes >= maxGroupBytes {
			bell = nil
		}
		select {
		case formed <- g:
			g = nil
			continue
		case <-c.failure.down:
			if g != nil {
				refuse(g.calls, c.failure.err())
			}
			g = nil
			<-c.queue.bell
		case <-bell:
		}
		var calls []*call
		calls, closed = c.queue.take(spare[:0])
		if g == nil {
			g = &group{}
		}
		c.gather(g, calls)
		clear(calls)
		spare = calls
		if len(g.calls) == 0 {
			g = nil
		} else if c.engine == nil {
			c.publish(g)
			g = nil
		}
	}
	if c.engine == nil {
		close(c.done)
	} else {
		close(c.formed)
	}
}

// gather tries calls and adds them to g.
func (c *committer) gather(g *group, calls []*call) {
	c.working.mu.Lock()
	defer c.working.mu.Unlock()
	if err := c.failure.err(); err != nil {
		refuse(calls, err)
		return
	}
	c.working.try(g, calls)
}

// write is the writer's goroutine.
func (c *committer) write() {
	defer close(c.done)
	for g := range c.formed {
		if err := c.failure.err(); err != nil {
			refuse(g.calls, err)
			continue
		}
		if len(g.Versions) > 0 || len(g.Leases) > 0 {
			if err := c.engine.Commit(&g.Group); err != nil {
				c.failure.fail(err)
				g.fail(c.failure.err())
				continue
			}
			c.stamp(trace.Synced, g)
			if err := c.cleaner.makeRoom(); err != nil {
				c.failure.fail(err)
			}
		}
		c.publish(g)
	}
}

// publish shows a written group to readers, and answers the calls.
func (c *committer) publish(g *group) {
	if len(g.Versions) > 0 {
		// Stamped before the versions can be seen, so that no later hop is earlier.
		c.stamp(trace.Published, g)
		c.packer.grown(c.published.publish(g))
		c.groups.Add(1)
	}
	c.commits.Add(int64(len(g.calls)))
	g.answer()
}

// stamp records in the trace that the group has passed a hop.
func (c *committer) stamp(h trace.Hop, g *group) {
	if l := c.trace; l != nil && len(g.Versions) > 0 {
		l.Stamp(h, int64(g.Versions[0].KV().ModRevision), int64(g.Rev), l.Now())
	}
}
