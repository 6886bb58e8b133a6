package fastjson

import (
	"slices"
	"strings"

	"fairlead.dev/internal/rawmem"
)

// Value is a value in an object, to be examined without encoding it.
type Value struct {
	p *typeCodec
	v rawmem.Pointer
}

// Values returns the member's values in both objects. A value that is absent or null is the zero Value.
func (p Pair) Values() (old, new Value) {
	return Value{p.f.plan, p.a}.target(), Value{p.f.plan, p.b}.target()
}

// target follows pointers.
func (x Value) target() Value {
	for !x.v.IsNil() && x.p.op == pointer {
		x = Value{x.p.elem, x.v.Load()}
	}
	if x.v.IsNil() {
		return Value{}
	}
	return x
}

// IsZero reports whether there is no value.
func (x Value) IsZero() bool { return x.v.IsNil() }

// IsStruct reports whether the value has Fields.
func (x Value) IsStruct() bool { return !x.v.IsNil() && x.p.op == structure }

// IsSlice reports whether the value is a slice, of Len items.
func (x Value) IsSlice() bool { return !x.v.IsNil() && x.p.op == slice }

// Len returns the number of items of a slice.
func (x Value) Len() int { return x.v.Slice().Len }

// Item returns an item of a slice.
func (x Value) Item(i int) Value {
	return Value{x.p.elem, x.v.Slice().Item(i, x.p.elem.size)}.target()
}

// Fields calls visit for the members that the JSON of a struct has, sorted by name, until visit returns false. It
// reports whether visit always returned true.
func (x Value) Fields(visit func(name string, member Value) bool) bool {
	for _, i := range x.p.sorted {
		f := &x.p.fields[i]
		if m := x.v.Field(f.offset); f.empty == always || !f.isEmpty(m) {
			if !visit(f.name, Value{f.plan, m}.target()) {
				return false
			}
		}
	}
	return true
}

// Field returns the member of a struct of that name, the zero Value if its JSON has none.
func (x Value) Field(name string) Value {
	i, ok := x.p.byName[name]
	if !ok {
		return Value{}
	}
	f := &x.p.fields[i]
	m := x.v.Field(f.offset)
	if f.empty != always && f.isEmpty(m) {
		return Value{}
	}
	return Value{f.plan, m}.target()
}

// Keys returns the keys of a map, sorted. It returns false if the value is not a map.
func (x Value) Keys() ([]string, bool) {
	switch {
	case x.v.IsNil():
		return nil, false
	case x.p.op == stringMap:
		m := *rawmem.At[map[string]string](x.v)
		keys := make([]string, 0, len(m))
		for k := range m {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		return keys, true
	case x.p.op == mapping:
		m := x.v.Value(x.p.typ)
		keys := make([]string, 0, m.Len())
		for it := m.MapRange(); it.Next(); {
			keys = append(keys, it.Key().String())
		}
		slices.Sort(keys)
		return keys, true
	}
	return nil, false
}

// Append appends the value's JSON. It returns false if the value cannot be encoded.
func (x Value) Append(dst []byte) ([]byte, bool) {
	if x.v.IsNil() {
		return append(dst, "null"...), true
	}
	return Pair{f: &field{plan: x.p}}.append(dst, x.v)
}

// sortFields sorts the field indexes by name.
func (p *typeCodec) sortFields() {
	p.sorted = make([]int, len(p.fields))
	for i := range p.sorted {
		p.sorted[i] = i
	}
	slices.SortFunc(p.sorted, func(a, b int) int { return strings.Compare(p.fields[a].name, p.fields[b].name) })
}
