package local

import (
	"fmt"

	"fairlead.dev/storage"

	"fairlead.dev/internal/storage/mvcc"
)

// batchEvents bounds a batch, except for one transaction that is larger.
const batchEvents = 4096

// A cursor reads the events of its span from its position on.
type cursor struct {
	position
	published *published
	after     storage.Revision
	prev      bool
}

var _ interface {
	storage.Cursor
	storage.Ringer
} = (*cursor)(nil)

// watch opens a cursor; see storage.Store.
func (p *published) watch(r storage.WatchRequest) (storage.Cursor, error) {
	after := r.After
	if after < 0 {
		return nil, fmt.Errorf("watch after %d: %w", after, storage.ErrInvalid)
	}
	c := &cursor{published: p, prev: r.Prev}
	c.span = mvcc.Span{Start: r.Start, End: r.End}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed.Load() {
		return nil, storage.ErrClosed
	}
	st := p.state.Load()
	if after == 0 {
		after = st.rev
	}
	if after < st.compacted {
		return nil, compactedError(after, st.compacted)
	}
	c.after, c.mu.progress = after, after
	if first := st.log.After(after); first < st.log.End {
		c.mark(first, st.log.End-1)
		c.ring()
	}
	p.mu.bells.add(&c.position)
	return c, nil
}

func (c *cursor) Bell() <-chan struct{} {
	if c.bell == nil {
		c.published.mu.Lock()
		defer c.published.mu.Unlock()
		c.bell = make(chan struct{}, 1)
		if c.early.Load() {
			c.bell <- struct{}{}
		}
	}
	return c.bell
}

// RingTo implements storage.Ringer.
func (c *cursor) RingTo(f func()) {
	c.published.mu.Lock()
	c.ringTo = f
	c.published.mu.Unlock()
	f()
}

// Want implements storage.Cursor.
func (c *cursor) Want(r storage.Revision) {
	c.published.mu.Lock()
	defer c.published.mu.Unlock()
	if c.published.state.Load().rev >= r {
		c.ring()
		return
	}
	c.published.mu.bells.want(&c.position, r)
}

func (c *cursor) Next() (storage.Batch, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.err == nil && c.published.closed.Load() {
		c.mu.err = storage.ErrClosed
	}
	if c.mu.err != nil {
		return storage.Batch{}, c.mu.err
	}
	st := c.published.state.Load()
	if !c.mu.unread || c.mu.first >= st.log.End {
		c.mu.progress = max(c.mu.progress, st.rev)
		return storage.Batch{Progress: c.mu.progress}, nil
	}
	if c.mu.first < st.log.First {
		return c.overtaken(st.compacted)
	}
	begin := st.log.At(c.mu.first).KV().ModRevision
	events, next := c.read(st)
	// Events hold the right previous values only above the last compaction, which may have happened
	// meanwhile.
	if compacted := c.published.state.Load().compacted; begin <= compacted {
		return c.overtaken(compacted)
	}
	if next < st.log.End {
		c.mu.progress = max(c.mu.progress, st.log.At(next-1).KV().ModRevision)
	} else {
		c.mu.progress = max(c.mu.progress, st.rev)
	}
	c.mu.first = next
	if c.mu.unread = next <= c.mu.last; c.mu.unread && next < st.log.End {
		c.ring()
	}
	return storage.Batch{Events: events, Progress: c.mu.progress}, nil
}

// read collects a batch and returns where to continue: between two transactions, or at the end of
// st if there is no further event for c in it.
func (c *cursor) read(st *state) (events []storage.Event, next int64) {
	end := min(c.mu.last+1, st.log.End)
	size := min(end-c.mu.first, batchEvents)
	for seq := c.mu.first; seq < end; seq++ {
		v := st.log.At(seq)
		if len(events) >= batchEvents && v.KV().ModRevision != events[len(events)-1].Revision() {
			return events, seq
		}
		if v.KV().ModRevision > c.after && c.span.Has(v.KV().Key) {
			if events == nil {
				events = make([]storage.Event, 0, size)
			}
			events = append(events, v.Event(c.prev))
		}
	}
	return events, st.log.End
}

// overtaken ends c, whose next events are compacted.
func (c *cursor) overtaken(compacted storage.Revision) (storage.Batch, error) {
	c.mu.err = compactedError(c.mu.progress, compacted)
	return storage.Batch{}, c.mu.err
}

func (c *cursor) Close() {
	c.published.mu.Lock()
	c.published.mu.bells.remove(&c.position)
	c.published.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.err = storage.ErrClosed
}
