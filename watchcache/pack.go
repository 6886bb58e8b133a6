package watchcache

import (
	"bytes"
	"fmt"

	"fairlead.dev/internal/delta"
	"fairlead.dev/storage"
)

// A body is an object's key, revisions and value. The history holds states of the same objects,
// each much like the next. So an object that was replaced some time ago is packed: its new body
// holds only its difference to its successor, and a reader restores the value from both.
type body struct {
	kv *storage.KeyValue
	// base is the successor, if kv.Value is packed.
	base *Object
}

const (
	// unpackedBytes is how much of the newest history stays unpacked, for watchers that follow it,
	// and packStep how much is packed in one go.
	unpackedBytes = 1 << 20
	packStep      = 256 << 10
	// minPackSize is the size of the smallest value that is packed.
	minPackSize = 256
	// maxPackChain bounds how many successors must be restored to read one object: of so many
	// versions of an object one stays whole.
	maxPackChain = 16
)

func (o *Object) kv() *storage.KeyValue { return o.body.Load().kv }

func (b *body) value() []byte {
	if b.base == nil {
		return b.kv.Value
	}
	value, err := delta.Apply(b.base.Value(), b.kv.Value)
	if err != nil {
		panic(fmt.Sprintf("%s at revision %d: %v", b.kv.Key, b.kv.ModRevision, err))
	}
	return value
}

// packed returns the object's packed body, with its successor as base; nil if it would not be much
// smaller. It uses scratch.
func (o *Object) packed(next *Object, scratch *[]byte) *body {
	kv := o.kv()
	if len(kv.Value) < minPackSize || kv.Version%maxPackChain == 0 || o.body.Load().base != nil {
		return nil
	}
	*scratch = delta.Append((*scratch)[:0], next.Value(), kv.Value)
	if len(*scratch) > len(kv.Value)/2 {
		return nil
	}
	return &body{withValue(kv, bytes.Clone(*scratch)), next}
}

// pack packs the history except its newest part. One goroutine at a time calls it.
func (c *Cache) pack() {
	c.mu.RLock()
	first, whole := c.mu.packed, c.mu.whole
	view := c.mu.ring.view(first)
	c.mu.RUnlock()

	bodies := make([]*body, 0, len(view))
	var scratch []byte
	for i := range view {
		if whole <= unpackedBytes {
			break
		}
		whole -= view[i].size()
		var b *body
		if ch := &view[i]; ch.old != nil && ch.new != nil {
			b = ch.old.packed(ch.new, &scratch)
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
			ch.old.body.Store(b)
			ch.old.attributes.Store(nil)
			c.mu.ringBytes += ch.size()
		}
	}
}
