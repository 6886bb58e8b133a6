package local

import (
	"fmt"
	"sync"
	"sync/atomic"

	"fairlead.dev/storage"
)

// batchEvents bounds a batch, except for one transaction that is larger.
const batchEvents = 4096

// A cursor is a position in the log and holds no part of it: only the sequence numbers of the first
// and the last event of its span that it has not read. Without unread events it stands at the end
// of the log, wherever that is by now, so compaction never overtakes a cursor on a quiet key.
//
// Publishing marks under mu before the events can be seen, so a reader that finds no mark has
// missed no event of the state that it loaded.
type cursor struct {
	store *Store
	span  span
	after storage.Revision
	// bell, made on demand, and ringTo, which replaces it, are written by the reader under
	// Store.pub, and read by the reader or under Store.pub. early: it rang before there was either.
	bell   chan struct{}
	ringTo func()
	early  atomic.Bool
	// place is the index within its topic; guarded by Store.pub.
	place int

	mu struct {
		sync.Mutex
		// unread: [first, last] holds unread events.
		unread      bool
		first, last int64
		progress    storage.Revision
		err         error
	}
}

var _ interface {
	storage.Cursor
	storage.Ringer
} = (*cursor)(nil)

// Watch implements storage.Store.
func (s *Store) Watch(start, end string, after storage.Revision) (storage.Cursor, error) {
	if after < 0 {
		return nil, fmt.Errorf("watch after %d: %w", after, storage.ErrInvalid)
	}
	c := &cursor{store: s, span: span{start, end}}
	s.pub.Lock()
	defer s.pub.Unlock()
	if s.closed.Load() {
		return nil, storage.ErrClosed
	}
	st := s.state.Load()
	if after == 0 {
		after = st.rev
	}
	if after < st.compacted {
		return nil, compactedError(after, st.compacted)
	}
	c.after, c.mu.progress = after, after
	if first := st.log.after(after); first < st.log.end {
		c.mark(first, st.log.end-1)
		c.ring()
	}
	s.pub.bells.add(c)
	return c, nil
}

func (c *cursor) Bell() <-chan struct{} {
	if c.bell == nil {
		c.store.pub.Lock()
		defer c.store.pub.Unlock()
		c.bell = make(chan struct{}, 1)
		if c.early.Load() {
			c.bell <- struct{}{}
		}
	}
	return c.bell
}

// RingTo implements storage.Ringer.
func (c *cursor) RingTo(f func()) {
	c.store.pub.Lock()
	c.ringTo = f
	c.store.pub.Unlock()
	f()
}

// Want implements storage.Cursor.
func (c *cursor) Want(r storage.Revision) {
	c.store.pub.Lock()
	defer c.store.pub.Unlock()
	if c.store.state.Load().rev >= r {
		c.ring()
		return
	}
	c.store.pub.bells.want(c, r)
}

func (c *cursor) ring() {
	switch {
	case c.ringTo != nil:
		c.ringTo()
	case c.bell == nil:
		c.early.Store(true)
	default:
		select {
		case c.bell <- struct{}{}:
		default:
		}
	}
}

// mark records that [first, last] begins and ends with events of c's span.
func (c *cursor) mark(first, last int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.mu.unread {
		c.mu.unread, c.mu.first = true, first
	}
	c.mu.last = last
}

func (c *cursor) Next() (storage.Batch, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.err == nil && c.store.closed.Load() {
		c.mu.err = storage.ErrClosed
	}
	if c.mu.err != nil {
		return storage.Batch{}, c.mu.err
	}
	st := c.store.state.Load()
	if !c.mu.unread || c.mu.first >= st.log.end {
		c.mu.progress = max(c.mu.progress, st.rev)
		return storage.Batch{Progress: c.mu.progress}, nil
	}
	if c.mu.first < st.log.first {
		return c.overtaken(st.compacted)
	}
	begin := st.log.at(c.mu.first).kv().ModRevision
	events, next := c.read(st)
	// Events hold the right previous values only above the last compaction, which may have happened
	// meanwhile.
	if compacted := c.store.state.Load().compacted; begin <= compacted {
		return c.overtaken(compacted)
	}
	if next < st.log.end {
		c.mu.progress = max(c.mu.progress, st.log.at(next-1).kv().ModRevision)
	} else {
		c.mu.progress = max(c.mu.progress, st.rev)
	}
	c.mu.first = next
	if c.mu.unread = next <= c.mu.last; c.mu.unread && next < st.log.end {
		c.ring()
	}
	return storage.Batch{Events: events, Progress: c.mu.progress}, nil
}

// read collects a batch and returns where to continue: between two transactions, or at the end of
// st if there is no further event for c in it.
func (c *cursor) read(st *state) (events []storage.Event, next int64) {
	end := min(c.mu.last+1, st.log.end)
	size := min(end-c.mu.first, batchEvents)
	for seq := c.mu.first; seq < end; seq++ {
		v := st.log.at(seq)
		if len(events) >= batchEvents && v.kv().ModRevision != events[len(events)-1].Revision() {
			return events, seq
		}
		if v.kv().ModRevision > c.after && c.span.has(v.kv().Key) {
			if events == nil {
				events = make([]storage.Event, 0, size)
			}
			events = append(events, v.event())
		}
	}
	return events, st.log.end
}

// overtaken ends c, whose next events are compacted.
func (c *cursor) overtaken(compacted storage.Revision) (storage.Batch, error) {
	c.mu.err = compactedError(c.mu.progress, compacted)
	return storage.Batch{}, c.mu.err
}

func (c *cursor) Close() {
	c.store.pub.Lock()
	c.store.pub.bells.remove(c)
	c.store.pub.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.err = storage.ErrClosed
}
