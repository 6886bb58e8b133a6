package local

import (
	"fmt"

	"fairlead.dev/storage"
	"fairlead.dev/trace"

	"fairlead.dev/internal/storage/leases"
)

// A group is a set of commits that one sync makes durable.
type group struct {
	calls    []*call
	versions []*version
	rev      storage.Revision // of the last version; 0 without versions
	leases   []leases.Record
	tree     *tree // if keys were added
	live     size  // how many more keys and bytes are live
	sync     bool  // something in it must survive a crash
	bytes    int
}

// groupBytes is the size at which a group is full. It stays well below Pebble's memtable, which
// larger batches bypass.
const groupBytes = 2 << 20

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
	store  *Store
	groups chan *group
	done   chan struct{} // closed by the writer, which ends last
}

func startCommitter(s *Store) *committer {
	c := &committer{store: s, groups: make(chan *group), done: make(chan struct{})}
	go c.former()
	if s.engine != nil {
		go c.write()
	}
	return c
}

// wait returns when all calls that were queued before queue.close are finished, or when the engine
// hangs.
func (c *committer) wait() {
	select {
	case <-c.done:
	case <-c.store.down:
	}
}

func (c *committer) former() {
	s := c.store
	var g *group
	var spare []*call
	closed := false
	for g != nil || !closed {
		bell, groups := s.queue.bell, c.groups
		if g == nil {
			groups = nil
		} else if g.bytes >= groupBytes {
			bell = nil
		}
		select {
		case groups <- g:
			g = nil
			continue
		case <-s.down:
			refuse(g, s.Err())
			g = nil
			<-s.queue.bell
		case <-bell:
		}
		var calls []*call
		calls, closed = s.queue.take(spare[:0])
		if g == nil {
			g = &group{}
		}
		c.gather(g, calls)
		clear(calls)
		spare = calls
		if len(g.calls) == 0 {
			g = nil
		} else if s.engine == nil {
			s.publish(g)
			g = nil
		}
	}
	if s.engine == nil {
		close(c.done)
	} else {
		close(c.groups)
	}
}

// gather tries calls and adds them to g.
func (c *committer) gather(g *group, calls []*call) {
	s := c.store
	s.work.Lock()
	defer s.work.Unlock()
	if err := s.Err(); err != nil {
		refuse(&group{calls: calls}, err)
		return
	}
	for _, call := range calls {
		if call.order != nil {
			call.err = call.order(g)
		} else {
			call.res, call.err = s.apply(call.txn, g)
		}
		g.calls = append(g.calls, call)
	}
	if s.work.grown {
		g.tree, s.work.grown = s.work.tree.Copy(), false
	}
}

// write is the writer's goroutine.
func (c *committer) write() {
	defer close(c.done)
	s := c.store
	for g := range c.groups {
		if err := s.Err(); err != nil {
			refuse(g, err)
			continue
		}
		if len(g.versions) > 0 || len(g.leases) > 0 {
			if err := s.engine.commit(g); err != nil {
				s.fail(err)
				for _, call := range g.calls {
					call.err = fmt.Errorf("%w: %w", storage.ErrUnavailable, s.Err())
					close(call.done)
				}
				continue
			}
			s.stamp(trace.Synced, g)
			s.kept.Add(int64(g.bytes))
			if err := s.compactor.makeRoom(); err != nil {
				s.fail(err)
			}
		}
		s.publish(g)
	}
}

// refuse answers calls that never reached the engine.
func refuse(g *group, err error) {
	if g == nil {
		return
	}
	for _, call := range g.calls {
		call.err = fmt.Errorf("%w: %w", storage.ErrNotWritten, err)
		close(call.done)
	}
}
