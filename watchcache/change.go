package watchcache

import (
	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/storage"
	"fairlead.dev/trace"
)

// A change is one change of one object, immutable. For a creation old is nil, for a deletion new.
type change struct {
	rev      storage.Revision
	old, new *Object
	// lastReadable is the last readable state if old is unreadable; nil if it is unknown.
	lastReadable *Object
	at           int64 // Unix nanoseconds

	// compared and same cache the result of sameAttributes.
	compared, same bool
	// topics counts the topics that the change was logged in.
	topics int32
}

// sameAttributes reports whether both states look the same to every filter. After a write of a
// status they usually do.
func (ch *change) sameAttributes() bool {
	if !ch.compared {
		ch.compared = true
		if ch.old != nil && ch.new != nil && object.Readable(ch.old) == object.Readable(ch.new) {
			ch.same = object.SameAttributes(ch.old, ch.new)
		}
	}
	return ch.same
}

// either returns the new state or, after a deletion, the old one.
func (ch *change) either() *Object {
	if ch.new != nil {
		return ch.new
	}
	return ch.old
}

// size is the memory that the change keeps alive: the replaced state. The new state lives in the
// tree.
func (ch *change) size() int {
	const overhead = 128
	if ch.old == nil {
		return overhead
	}
	return overhead + object.StoredSize(ch.old)
}

// apply applies one event of the store. The hub calls it in revision order.
func (c *Cache) apply(ev *storage.Event, now int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.err != nil {
		return
	}
	ch := change{rev: ev.Revision(), at: now}
	if ev.Type == storage.Put {
		ch.new = c.object(ev.KV)
	}
	if ch.new != nil {
		ch.old, _ = c.mu.tree.Set(ev.KV.Key, ch.new)
	} else {
		ch.old, _ = c.mu.tree.Delete(ev.KV.Key)
	}
	c.mu.last = ch.rev
	if ch.old == nil && ch.new == nil {
		return
	}
	c.snap.Store(nil)
	c.noteLapse(&ch)
	c.mu.indexes.Apply(ch.old, ch.new)
	c.dispatch(&ch)
	c.traceChange(&ch)
	c.mu.ring.Append(ch)
	c.mu.ringBytes += ch.size()
	if c.mu.whole += ch.size(); c.mu.whole > unpackedBytes+packStep {
		c.hub.queuePack(c)
	}
	c.forget(now)
}

// traceChange reports the change to the trace.
func (c *Cache) traceChange(ch *change) {
	l := c.hub.opts.Trace
	if l == nil {
		return
	}
	t := trace.Modified
	switch {
	case ch.old == nil:
		t = trace.Added
	case ch.new == nil:
		t = trace.Deleted
	}
	l.Cached(int64(ch.rev), c.name, ch.either().Key()[len(c.opts.Prefix):], t, int(ch.topics), l.Now())
}

// forget drops the changes that are older than the history or exceed its size.
func (c *Cache) forget(now int64) {
	oldest := now - int64(c.hub.opts.History)
	n := 0
	for n < len(c.mu.ring.Items()) {
		ch := &c.mu.ring.Items()[n]
		if ch.at >= oldest && c.mu.ringBytes <= c.hub.opts.HistoryBytes {
			break
		}
		c.mu.ringBytes -= ch.size()
		if c.mu.ring.First()+uint64(n) >= c.mu.packed {
			c.mu.whole -= ch.size()
		}
		c.mu.floor = ch.rev
		n++
	}
	if n == 0 {
		return
	}
	c.mu.ring.Cut(n)
	c.mu.packed = max(c.mu.packed, c.mu.ring.First())
	for len(c.mu.refs.Items()) > 0 && c.mu.refs.Items()[0].seq < c.mu.ring.First() {
		t := c.mu.refs.Items()[0].topic
		c.mu.refs.Cut(1)
		c.trim(t)
	}
}
