package object

import (
	"bytes"

	"fairlead.dev/internal/delta"
)

const (
	// minPackSize is the size of the smallest value that is packed.
	minPackSize = 256
	// maxPackChain bounds how many successors must be restored to read one object: of so many
	// versions of an object one stays whole.
	maxPackChain = 16
)

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
