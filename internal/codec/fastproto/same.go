package fastproto

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/rawmem"
)

// same reports whether b decodes to the value at v, which takes less work than decoding it. It may return false
// also if it cannot tell.
func (d *decoder) same(p *plan, v rawmem.Pointer, b []byte, depth int) bool {
	switch p.op {
	case text:
		return *rawmem.At[string](v) == string(b)
	case integer:
		x, _ := varint(b)
		if p.size == 4 {
			return *rawmem.At[int32](v) == int32(x)
		}
		return *rawmem.At[int64](v) == int64(x)
	case boolean:
		x, _ := varint(b)
		return *rawmem.At[bool](v) == (x != 0)
	case bytes:
		is := *rawmem.At[[]byte](v)
		return is != nil && string(is) == string(b)
	case timestamp:
		var t metav1.Time
		return moment(&t, b) && t == *rawmem.At[metav1.Time](v)
	case message:
		return d.sameMessage(p, v, b, depth)
	}
	return false
}

// sameMessage is same for a struct: fields missing in b must be zero.
func (d *decoder) sameMessage(p *plan, v rawmem.Pointer, b []byte, depth int) bool {
	if p.opaque || depth > maxDepth {
		return false
	}
	var seen uint64
	for len(b) > 0 {
		f := p.low[b[0]>>3&15]
		from := b
		if f.first == int(b[0]) {
			b = b[1:]
		} else if f, b = p.seek(b); f == nil {
			if b == nil {
				return false
			}
			continue
		}
		bit := uint64(1) << (f.place & 63)
		if seen&bit != 0 { // duplicate
			return false
		}
		seen |= bit
		at := v.Field(f.offset)
		if f.form == plain && f.op == text {
			if is := *rawmem.At[string](at); len(is) < 0x80 && len(is) < len(b) && int(b[0]) == len(is) && string(b[1:1+len(is)]) == is {
				b = b[1+len(is):]
				continue
			}
		}
		value, rest, ok := cut(b, f.wire)
		if !ok {
			return false
		}
		b = rest
		switch f.form {
		case plain:
			ok = d.same(f.plan, at, value, depth+1)
		case pointer:
			to := at.Load()
			ok = !to.IsNil() && d.same(f.plan, to, value, depth+1)
		case slice:
			b, ok = d.sameRun(f, *at.Slice(), from, depth+1)
		default:
			var run []byte
			var items int
			if run, b, items, ok = f.run(from); ok {
				ok = d.sameMap(f, at.Load(), run, items)
			}
		}
		if !ok {
			return false
		}
	}
	for _, f := range p.all {
		if seen>>(f.place&63)&1 == 0 && !v.Field(f.offset).IsZero(f.size) {
			return false
		}
	}
	return true
}

// sameRun is same for the list that begins here, and returns the rest.
func (d *decoder) sameRun(f *field, list rawmem.Slice, b []byte, depth int) ([]byte, bool) {
	for i := range list.Len {
		if !hasTag(b, f.tag) {
			return nil, false
		}
		item, rest, ok := cut(b[len(f.tag):], f.wire)
		if !ok || !d.same(f.plan, list.Item(i, f.plan.size), item, depth) {
			return nil, false
		}
		b = rest
	}
	return b, list.Len > 0 && !hasTag(b, f.tag)
}

// sameMap is same for a map. Quantities would have to be parsed, so a map of quantities is looked up among recent
// values; for maps of other types except texts it returns false.
func (d *decoder) sameMap(f *field, v rawmem.Pointer, b []byte, items int) bool {
	if f.plan.op != text {
		if f.plan.typ != quantityType || v.IsNil() {
			return false
		}
		known, _, found := d.find(f, b)
		return found && known.At == v
	}
	is := *rawmem.At[map[string]string](rawmem.To(&v))
	if len(is) != items {
		return false
	}
	var last []byte
	for i := range items {
		var entry []byte
		entry, b, _ = cut(b[len(f.tag):], f.wire)
		k, e, ok := keyAndValue(entry, false)
		if !ok || i > 0 && string(k) <= string(last) { // otherwise a duplicate key would count twice
			return false
		}
		if value, ok := is[string(k)]; !ok || value != string(e) {
			return false
		}
		last = k
	}
	return true
}
