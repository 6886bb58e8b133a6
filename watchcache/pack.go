package watchcache

import (
	"bytes"
	"fmt"

	"fairlead.dev/internal/delta"
	"fairlead.dev/storage"
)

// body is an object's key, revisions and value. The history holds states of the
// same objects, each much like the next. So an object that was replaced a while ago
// is packed: its body gives way to one whose value is what tells it from the object
// that came after it. Who asks for the value gets it whole.
type body struct {
	kv *storage.KeyValue
	// base is the object after this one, if kv.Value is packed.
	base *Object
}

const (
	// packBehind is how much of the newest history stays as it is, in bytes, for
	// those who follow, and packStep how much is packed in one go.
	packBehind = 1 << 20
	packStep   = 256 << 10
	// packFrom is the least size of a value that is packed.
	packFrom = 256
	// packRun bounds how many others have to be made whole to read one: each of so
	// many versions of an object stays whole.
	packRun = 16
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

// packed is the object's body once it is packed by the one that came after it; nil
// if that would not make it much smaller. It needs scratch.
func (o *Object) packed(next *Object, scratch *[]byte) *body {
	kv := o.kv()
	if len(kv.Value) < packFrom || kv.Version%packRun == 0 || o.body.Load().base != nil {
		return nil
	}
	*scratch = delta.Append((*scratch)[:0], next.Value(), kv.Value)
	if len(*scratch) > len(kv.Value)/2 {
		return nil
	}
	return &body{withValue(kv, bytes.Clone(*scratch)), next}
}

// pack packs the history but for the newest part. One goroutine at a time does.
func (c *Cache) pack() {
	c.mu.RLock()
	first, whole := c.mu.packed, c.mu.whole
	view := c.mu.ring.view(first)
	c.mu.RUnlock()

	bodies := make([]*body, 0, len(view))
	var scratch []byte
	for i := range view {
		if whole <= packBehind {
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
		// What has left the ring meanwhile is in none of its sums.
		seq := first + uint64(i)
		if seq < c.mu.packed {
			continue
		}
		ch := &view[i]
		c.mu.packed, c.mu.whole = seq+1, c.mu.whole-ch.size()
		if b != nil {
			c.mu.ringBytes -= ch.size()
			ch.old.body.Store(b)
			ch.old.facts.Store(nil)
			c.mu.ringBytes += ch.size()
		}
	}
}
