package object

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

// A Packed is the packed value of an object, for SetPacked.
type Packed body

// Pack returns the object's value as its difference to its successor's; nil if that would not be
// much smaller. It uses scratch.
func Pack(o, next *Object, scratch *[]byte) *Packed {
	kv := o.kv()
	if len(kv.Value) < minPackSize || kv.Version%maxPackChain == 0 || o.body.Load().base != nil {
		return nil
	}
	*scratch = delta.Append((*scratch)[:0], next.Value(), kv.Value)
	if len(*scratch) > len(kv.Value)/2 {
		return nil
	}
	return &Packed{withValue(kv, bytes.Clone(*scratch)), next}
}

// SetPacked replaces the object's value by the packed one. Its attributes go too, since they share
// the memory of the value.
func SetPacked(o *Object, p *Packed) {
	o.body.Store((*body)(p))
	o.attributes.Store(nil)
}

// StoredSize returns the size of the object's value as it is held, packed or not.
func StoredSize(o *Object) int { return len(o.kv().Value) }
