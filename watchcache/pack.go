package watchcache

import (
	"fairlead.dev/internal/watchcache/object"
)

const (
	// unpackedBytes is how much of the newest history stays unpacked, for watchers that follow it,
	// and packStep how much is packed in one go.
	unpackedBytes = 1 << 20
	packStep      = 256 << 10
)

// pack packs the history except its newest part. One goroutine at a time calls it.
func (c *Cache) pack() {
	c.mu.RLock()
	first, whole := c.mu.packed, c.mu.whole
	view := c.mu.ring.View(first)
	c.mu.RUnlock()

	bodies := make([]*object.Packed, 0, len(view))
	var scratch []byte
	for i := range view {
		if whole <= unpackedBytes {
			break
		}
		whole -= view[i].size()
		var b *object.Packed
		if ch := &view[i]; ch.old != nil && ch.new != nil {
			b = object.Pack(ch.old, ch.new, &scratch)
		}
		bodies = append(bodies, b)
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	for i, b := range bodies {
		// Changes that have left the ring meanwhile are not in its sums any more.
		seq := first + uint64(i)
		if seq < c.mu.packed {
			continue
		}
		ch := &view[i]
		c.mu.packed, c.mu.whole = seq+1, c.mu.whole-ch.size()
		if b != nil {
			c.mu.ringBytes -= ch.size()
			object.SetPacked(ch.old, b)
			c.mu.ringBytes += ch.size()
		}
	}
}
