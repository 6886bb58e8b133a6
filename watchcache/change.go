package watchcache

import (
	"slices"

	"fairlead.dev/storage"
	"fairlead.dev/trace"
)

// change is one change of one object, immutable. old or new is nil.
type change struct {
	rev      storage.Revision
	old, new *Object
	// was, where old cannot be read, is the last state that could, nil if nobody
	// knows it.
	was *Object
	at  int64 // Unix nanoseconds

	// compared and same keep the answer of alike.
	compared, same bool
	// topics is how many selections it was matched to.
	topics int32
}

// alike says whether both states look the same to every filter, as they do to
// most when a status is written.
func (ch *change) alike() bool {
	if !ch.compared {
		ch.compared = true
		if ch.old != nil && ch.new != nil && ch.old.readable() == ch.new.readable() {
			a, b := ch.old.read(), ch.new.read()
			ch.same = slices.Equal(a.labels, b.labels) && slices.Equal(a.fields, b.fields)
		}
	}
	return ch.same
}

// any is a state of the object whose key is asked for.
func (ch *change) any() *Object {
	if ch.new != nil {
		return ch.new
	}
	return ch.old
}

// size is what the ring keeps alive by holding the change: the state that was
// replaced. The new one lives in the tree.
func (ch *change) size() int {
	const overhead = 128
	if ch.old == nil {
		return overhead
	}
	return overhead + len(ch.old.kv().Value)
}

// apply takes one event of the store. The hub calls it in revision order.
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
	for _, x := range c.mu.indexes {
		x.apply(&ch)
	}
	c.dispatch(&ch)
	c.traced(&ch)
	c.mu.ring.append(ch)
	c.mu.ringBytes += ch.size()
	if c.mu.whole += ch.size(); c.mu.whole > packBehind+packStep {
		c.hub.queuePack(c)
	}
	c.forget(now)
}

// traced stamps the change.
func (c *Cache) traced(ch *change) {
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
	l.Cached(int64(ch.rev), c.name, ch.any().kv().Key[len(c.opts.Prefix):], t, int(ch.topics), l.Now())
}

// forget drops the changes that are too old or too many.
func (c *Cache) forget(now int64) {
	oldest := now - int64(c.hub.opts.History)
	n := 0
	for n < len(c.mu.ring.items) {
		ch := &c.mu.ring.items[n]
		if ch.at >= oldest && c.mu.ringBytes <= c.hub.opts.HistoryBytes {
			break
		}
		c.mu.ringBytes -= ch.size()
		if c.mu.ring.first+uint64(n) >= c.mu.packed {
			c.mu.whole -= ch.size()
		}
		c.mu.floor = ch.rev
		n++
	}
	if n == 0 {
		return
	}
	c.mu.ring.cut(n)
	c.mu.packed = max(c.mu.packed, c.mu.ring.first)
	for len(c.mu.refs.items) > 0 && c.mu.refs.items[0].seq < c.mu.ring.first {
		t := c.mu.refs.items[0].topic
		c.mu.refs.cut(1)
		c.trim(t)
	}
}
