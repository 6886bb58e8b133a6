package fastjson

import (
	"reflect"
	"sync/atomic"

	"fairlead.dev/internal/codec/intern"
	"fairlead.dev/internal/rawmem"
)

// Sharer decodes objects that are never modified. Values with equal bytes in several objects share one value in
// memory.
type Sharer struct{ d decoder }

// NewSharer returns an empty Sharer.
func NewSharer() *Sharer {
	return &Sharer{decoder{values: &intern.Values{}, texts: intern.Texts{Together: true}}}
}

// Unmarshal is like the function Unmarshal.
func (s *Sharer) Unmarshal(b []byte, into any) bool { return s.d.unmarshal(b, into, false, false) }

// UnmarshalUnmanaged is like the function UnmarshalUnmanaged.
func (s *Sharer) UnmarshalUnmanaged(b []byte, into any) bool {
	return s.d.unmarshal(b, into, false, true)
}

// fieldIDs counts the fields whose values can be shared.
var fieldIDs atomic.Int64

// idOf returns the id of a field, or 0 if its values cannot be shared, or must not because their owner modifies
// them (the tag share:"no").
func idOf(f reflect.StructField) int {
	if f.Tag.Get("share") == "no" {
		return 0
	}
	switch f.Type.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return int(fieldIDs.Add(1))
	}
	return 0
}

// member reads the value of a struct's field.
func (d *decoder) member(f *field, v rawmem.Pointer) bool {
	if f.managed && d.depth == d.unmanaged {
		d.skipSpace()
		return d.skip()
	}
	if d.values != nil && f.id != 0 {
		switch f.plan.op {
		case pointer, slice, mapping, stringMap:
			return d.shared(f, v)
		}
	}
	return d.value(f.plan, v)
}

// shared reads a field's value, or reuses the one recently read from the same bytes. A duplicate field is refused:
// it would modify a value that may be shared.
func (d *decoder) shared(f *field, v rawmem.Pointer) bool {
	if !v.Load().IsNil() {
		return false
	}
	c := d.skipSpace()
	if c == 'n' || !d.values.Try(f.id) {
		return d.value(f.plan, v)
	}
	from := d.i
	if c == '{' || c == '[' {
		if known, n := d.values.Next(f.id, d.b[from:]); n > 0 {
			f.set(v, known)
			d.i += n
			return true
		}
	}
	end, ok := d.valueEnd()
	if !ok {
		return d.value(f.plan, v)
	}
	known, place, found := d.values.Find(f.id, d.b[from:end])
	if found {
		f.set(v, known)
		d.i = end
		return true
	}
	if !d.value(f.plan, v) || d.i != end {
		return false
	}
	known.At = v.Load()
	if f.plan.op == slice {
		known.N = v.Slice().Len
	}
	place.Keep(d.b[from:end], known)
	return true
}

func (f *field) set(v rawmem.Pointer, to intern.Value) {
	if f.plan.op == slice {
		*v.Slice() = rawmem.SliceAt(to.At, to.N)
	} else {
		*rawmem.At[rawmem.Pointer](v) = to.At
	}
}

// valueEnd returns the end of the value that begins here, without moving there, if the value is short enough to be
// shared.
func (d *decoder) valueEnd() (int, bool) {
	from, all := d.i, d.b
	if len(all)-from > intern.MaxLen {
		d.b = all[:from+intern.MaxLen]
	}
	ok := d.skip() && (d.i < len(d.b) || len(d.b) == len(all))
	end := d.i
	d.i, d.b = from, all
	return end, ok
}
