package fastproto

import (
	"reflect"

	"google.golang.org/protobuf/encoding/protowire"

	"fairlead.dev/internal/codec/intern"
	"fairlead.dev/internal/rawmem"
)

// Sharer decodes objects that are never modified. Values with equal bytes in several objects share one value in
// memory.
type Sharer struct {
	d    decoder
	last *plan // the plan used last; most calls use the same one
}

// NewSharer returns an empty Sharer.
func NewSharer() *Sharer { return &Sharer{d: decoder{values: &intern.Values{}}} }

// Unmarshal is like the function Unmarshal. was, if not nil, is the previous version, of the same type, which is
// never modified either; equal parts of the two are shared.
func (s *Sharer) Unmarshal(b []byte, into, was unmarshaler) bool {
	p, v, ok := s.target(into)
	if !ok {
		return false
	}
	var old rawmem.Pointer
	if was != nil {
		if q, v, ok := s.target(was); ok && q == p {
			old = v
		}
	}
	s.d.texts.Together = old.IsNil()
	return s.d.message(p, v, old, b, 0)
}

// target is the function target, without its checks for the type used last.
func (s *Sharer) target(into unmarshaler) (*plan, rawmem.Pointer, bool) {
	v := reflect.ValueOf(into)
	if s.last != nil && v.Kind() == reflect.Pointer && !v.IsNil() && v.Type().Elem() == s.last.typ {
		return s.last, rawmem.Of(v), true
	}
	p, at, ok := target(into)
	if ok {
		s.last = p
	}
	return p, at, ok
}

// Names returns the namespace and name in the metadata of a Kubernetes object without decoding it. They are slices
// of b, empty if absent.
func Names(b []byte) (namespace, name []byte) {
	meta := first(b, 1)
	return first(meta, 3), first(meta, 1)
}

// first returns the value of a text or message field, if all fields before it are texts or messages in the order of
// their numbers, as encoders write them.
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

// find looks up a field's value decoded from the same bytes.
func (d *decoder) find(f *field, b []byte) (intern.Value, intern.Place, bool) {
	if !d.values.Try(f.id) {
		return intern.Value{}, intern.Place{}, false
	}
	return d.values.Find(f.id, b)
}
