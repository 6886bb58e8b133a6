package fastproto

import (
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// same reports whether b decodes to the value at v, which takes less work than decoding it. It may return false
// also if it cannot tell.
func (d *decoder) same(p *plan, v unsafe.Pointer, b []byte, depth int) bool {
	switch p.op {
	case text:
		return *(*string)(v) == string(b)
	case integer:
		x, _ := varint(b)
		if p.size == 4 {
			return *(*int32)(v) == int32(x)
		}
		return *(*int64)(v) == int64(x)
	case boolean:
		x, _ := varint(b)
		return *(*bool)(v) == (x != 0)
	case bytes:
		is := *(*[]byte)(v)
		return is != nil && string(is) == string(b)
	case timestamp:
		var t metav1.Time
		return moment(&t, b) && t == *(*metav1.Time)(v)
	case message:
		return d.sameMessage(p, v, b, depth)
	}
	return false
}

// sameMessage is same for a struct: fields missing in b must be zero.
func (d *decoder) sameMessage(p *plan, v unsafe.Pointer, b []byte, depth int) bool {
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
		at := unsafe.Add(v, f.offset)
		if f.form == plain && f.op == text {
			if is := *(*string)(at); len(is) < 0x80 && len(is) < len(b) && int(b[0]) == len(is) && string(b[1:1+len(is)]) == is {
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
			to := *(*unsafe.Pointer)(at)
			ok = to != nil && d.same(f.plan, to, value, depth+1)
		case slice:
			b, ok = d.sameRun(f, *(*header)(at), from, depth+1)
		default:
			var run []byte
			var items int
			if run, b, items, ok = f.run(from); ok {
				ok = d.sameMap(f, *(*unsafe.Pointer)(at), run, items)
			}
		}
		if !ok {
			return false
		}
	}
	for _, f := range p.all {
		if seen>>(f.place&63)&1 == 0 && !zero(unsafe.Add(v, f.offset), f.size) {
			return false
		}
	}
	return true
}

// sameRun is same for the list that begins here, and returns the rest.
func (d *decoder) sameRun(f *field, list header, b []byte, depth int) ([]byte, bool) {
	for i := range list.len {
		if !hasTag(b, f.tag) {
			return nil, false
		}
		item, rest, ok := cut(b[len(f.tag):], f.wire)
		if !ok || !d.same(f.plan, unsafe.Add(list.data, uintptr(i)*f.plan.size), item, depth) {
			return nil, false
		}
		b = rest
	}
	return b, list.len > 0 && !hasTag(b, f.tag)
}

// sameMap is same for a map. Quantities would have to be parsed, so a map of quantities is looked up among recent
// values; for maps of other types except texts it returns false.
func (d *decoder) sameMap(f *field, v unsafe.Pointer, b []byte, items int) bool {
	if f.plan.op != text {
		if f.plan.typ != quantityType || v == nil {
			return false
		}
		known, _, found := d.find(f, b)
		return found && known.At == v
	}
	is := *(*map[string]string)(unsafe.Pointer(&v))
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

// zero reports whether size bytes at v are all zero.
func zero(v unsafe.Pointer, size uintptr) bool {
	at := uintptr(0)
	for ; at+8 <= size; at += 8 {
		if *(*uint64)(unsafe.Add(v, at)) != 0 {
			return false
		}
	}
	for ; at < size; at++ {
		if *(*byte)(unsafe.Add(v, at)) != 0 {
			return false
		}
	}
	return true
}
