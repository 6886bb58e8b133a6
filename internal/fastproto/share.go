package fastproto

import (
	"reflect"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"

	"fairlead.dev/internal/alike"
)

// Sharer decodes objects that nobody will change: what is encoded alike in several of
// them is one thing in memory.
type Sharer struct {
	d    decoder
	last *plan // the one used last, which most are decoded by
}

// NewSharer returns a Sharer that has seen nothing.
func NewSharer() *Sharer { return &Sharer{d: decoder{values: &alike.Values{}}} }

// Unmarshal is like the function Unmarshal. was, if not nil, is the version before, of the
// same type, which nobody will change either: what is equal in the two is one thing too.
func (s *Sharer) Unmarshal(b []byte, into, was unmarshaler) bool {
	p, v, ok := s.target(into)
	if !ok {
		return false
	}
	var old unsafe.Pointer
	if was != nil {
		if q, v, ok := s.target(was); ok && q == p {
			old = v
		}
	}
	s.d.texts.Together = old == nil
	return s.d.message(p, v, old, b, 0)
}

// target is the function target, which it need not ask for a type that it knows.
func (s *Sharer) target(into unmarshaler) (*plan, unsafe.Pointer, bool) {
	v := reflect.ValueOf(into)
	if s.last != nil && v.Kind() == reflect.Pointer && !v.IsNil() && v.Type().Elem() == s.last.typ {
		return s.last, v.UnsafePointer(), true
	}
	p, at, ok := target(into)
	if ok {
		s.last = p
	}
	return p, at, ok
}

// Names finds namespace and name in the metadata of an object of Kubernetes, without
// decoding it; they are parts of b, and empty if there are none.
func Names(b []byte) (namespace, name []byte) {
	meta := first(b, 1)
	return first(meta, 3), first(meta, 1)
}

// first returns the value of a field that is a text or a message, and has only such before
// it, in the order of their numbers, as everybody writes them.
func first(b []byte, number byte) []byte {
	for len(b) > 0 && b[0] <= number<<3|byte(protowire.BytesType) && b[0]&7 == byte(protowire.BytesType) {
		value, rest, ok := cut(b[1:], protowire.BytesType)
		switch {
		case !ok:
			return nil
		case b[0]>>3 == number:
			return value
		}
		b = rest
	}
	return nil
}

// find looks for a field's value that was decoded from the same bytes.
func (d *decoder) find(f *field, b []byte) (alike.Value, alike.Place, bool) {
	if !d.values.Try(f.id) {
		return alike.Value{}, alike.Place{}, false
	}
	return d.values.Find(f.id, b)
}
