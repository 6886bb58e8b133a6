package object

import (
	"bytes"

	"fairlead.dev/internal/delta"
	"fairlead.dev/storage"
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

// Siblings has the bases of a kind's objects.
type Siblings = delta.Siblings[*Object]

// Pack returns the object's value as its difference to its successor's; nil if that would not be
// much smaller. It uses scratch. An object that is packed already only loses its attributes.
func Pack(o, next *Object, scratch *[]byte) *Packed {
	b := o.body.Load()
	if b.attributes != nil {
		return &Packed{kv: b.kv, base: b.base}
	}
	kv := b.kv
	if len(kv.Value) < minPackSize || kv.Version%maxPackChain == 0 || b.base != nil {
		return nil
	}
	var ok bool
	if *scratch, ok = delta.Append((*scratch)[:0], next.Value(), kv.Value, len(kv.Value)/2); !ok {
		return nil
	}
	return &Packed{kv: withValue(kv, bytes.Clone(*scratch)), base: next}
}

// PackSibling returns the object's value as its difference to that of a similar object; nil without one.
// The object's attributes stay.
func PackSibling(o *Object, siblings *Siblings) *Packed {
	b := o.body.Load()
	if b.base != nil || !Readable(o) {
		return nil
	}
	d, base, ok := siblings.Find(b.kv.Key, b.kv.Value)
	if !ok {
		// The object itself may be packed later, and its base is never.
		base := &Object{kind: o.kind, splice: o.splice}
		base.body.Store(b)
		siblings.Add(b.kv.Key, b.kv.Value, base)
		return nil
	}
	return &Packed{withValue(b.kv, d), base, o.read().like(base.read())}
}

// Base returns the object of a key of the store that others were packed with, for PackLike.
func Base(kv *storage.KeyValue, k *Kind) *Object {
	base := &Object{kind: k}
	base.body.Store(&body{kv: kv})
	return base
}

// PackLike is PackSibling for an object that its store holds as the difference of kv to base: the two share the memory of
// kv. It returns nil if the object has another value than the one stored, which was decrypted or converted.
func PackLike(o *Object, kv *storage.KeyValue, base *Object, scratch *[]byte) *Packed {
	b := o.body.Load()
	if b.base != nil || !Readable(o) {
		return nil
	}
	p := body{kv: kv, base: base}
	*scratch = p.restore((*scratch)[:0])
	if !bytes.Equal(*scratch, b.kv.Value) {
		return nil
	}
	p.attributes = o.read().like(base.read())
	return (*Packed)(&p)
}

// NewLike is New for a key that its store holds as the difference of kv to base: the object shares the memory of kv from the
// beginning. It returns nil if the value is unreadable, encrypted or to be converted; see Restored.
func NewLike(kv *storage.KeyValue, base *Object, scratch *[]byte) *Object {
	p := &body{kv: kv, base: base}
	*scratch = p.restore((*scratch)[:0])
	whole := withValue(kv, *scratch)
	o, err := New(whole, base.kind)
	if err != nil || o.kv() != whole {
		return nil
	}
	p.attributes = o.read().like(base.read())
	SetPacked(o, (*Packed)(p))
	return o
}

// Restored returns a key whole that its store holds as the difference of kv to base.
func Restored(kv *storage.KeyValue, base *Object) *storage.KeyValue {
	p := body{kv: kv, base: base}
	return withValue(kv, p.restore(nil))
}

// IsStored reports whether the object has the memory of a stored key.
func IsStored(o *Object, kv *storage.KeyValue) bool { return o.kv() == kv }

// SetPacked replaces the object's value by the packed one. Its attributes go too, unless the Packed has
// them, since they share the memory of the value.
func SetPacked(o *Object, p *Packed) {
	o.body.Store((*body)(p))
	o.attributes.Store(nil)
}

// Unpacked returns the object, or if it is packed, a copy with its value restored, for a reader that
// needs the value several times.
func (o *Object) Unpacked() *Object {
	if o == nil {
		return nil
	}
	b := o.body.Load()
	if b.base == nil {
		return o
	}
	whole := &Object{kind: o.kind, splice: o.splice}
	whole.body.Store(&body{kv: withValue(b.kv, b.value()), attributes: b.attributes})
	return whole
}

// StoredSize returns the size of the object's value as it is held, packed or not.
func StoredSize(o *Object) int { return len(o.kv().Value) }
