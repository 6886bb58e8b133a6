package mvcc

import (
	"fmt"
	"sync/atomic"

	"fairlead.dev/internal/delta"
	"fairlead.dev/storage"
)

// A body holds a version's key, revisions and value.
//
// Most of history are states of the same objects, each much like the next. So the value of a
// version that was superseded some time ago is packed: its body is replaced by one that holds only
// the difference to the body of the version after it, some hundred bytes instead of some thousand.
// A reader gets the whole value, and a value once returned does not change. The value of a version
// that has not been superseded for some time is packed, too, as its difference to that of a similar key.
type body struct {
	kv storage.KeyValue
	// base is the place of the body after this one, or of a similar one, if the value is packed.
	base *atomic.Pointer[body]
}

// whole returns the body's KeyValue with its value restored.
func (b *body) whole() *storage.KeyValue {
	if b.base == nil {
		return &b.kv
	}
	kv := b.kv
	value, err := delta.Apply(b.base.Load().whole().Value, kv.Value)
	if err != nil {
		panic(fmt.Sprintf("%s at revision %d: %v", kv.Key, kv.ModRevision, err))
	}
	kv.Value = value
	return &kv
}

// size returns the length of the body's value.
func (b *body) size() int {
	if b.base == nil {
		return len(b.kv.Value)
	}
	return delta.Size(b.kv.Value)
}
