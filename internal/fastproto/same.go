package fastproto

import (
	"encoding/binary"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// same tells whether b decodes to what is at v already, which is less work than to decode
// it. False may also mean that it could not say.
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

// sameMessage is same for a struct: what b has no field for must be zero in it.
func (d *decoder) sameMessage(p *plan, v unsafe.Pointer, b []byte, depth int) bool {
	if p.opaque || depth > deepest {
		return false
	}
	var seen uint64
	for len(b) > 0 {
		f, value, rest, ok := p.next(b)
		switch {
		case !ok:
			return false
		case f == nil:
			b = rest
			continue
		case seen>>f.place&1 != 0: // twice
			return false
		}
		seen |= 1 << f.place
		at := unsafe.Add(v, f.offset)
		switch f.form {
		case plain:
			ok = d.same(f.plan, at, value, depth+1)
		case pointer:
			to := *(*unsafe.Pointer)(at)
			ok = to != nil && d.same(f.plan, to, value, depth+1)
		default:
			items := 1
			for ok && hasTag(rest, f.tag) {
				_, rest, ok = cut(rest[len(f.tag):], f.wire)
				items++
			}
			run := b[:len(b)-len(rest)]
			switch {
			case !ok:
			case f.form == mapping:
				ok = d.sameMap(f, at, run, items)
			default:
				list := *(*header)(at)
				ok = list.len == items && d.sameItems(f, list, run, depth+1)
			}
		}
		if !ok {
			return false
		}
		b = rest
	}
	for _, f := range p.all {
		if seen>>f.place&1 == 0 && !zero(unsafe.Add(v, f.offset), f.typ.Size()) {
			return false
		}
	}
	return true
}

// sameItems is same for a list that has as many items as b, each with its tag before it.
func (d *decoder) sameItems(f *field, list header, b []byte, depth int) bool {
	for i := range list.len {
		var item []byte
		item, b, _ = cut(b[len(f.tag):], f.wire) // who counted them has cut it before
		if !d.same(f.plan, unsafe.Add(list.data, uintptr(i)*f.plan.size), item, depth+1) {
			return false
		}
	}
	return true
}

// sameMap is same for a map. One of quantities, which would have to be parsed, is looked
// for among those that came lately; of others, but for texts, it cannot say.
func (d *decoder) sameMap(f *field, v unsafe.Pointer, b []byte, items int) bool {
	if f.plan.op != text {
		if f.plan.typ != quantityType || *(*unsafe.Pointer)(v) == nil {
			return false
		}
		known, _, found := d.find(f, b)
		return found && known.At == *(*unsafe.Pointer)(v)
	}
	is := *(*map[string]string)(v)
	if len(is) != items {
		return false
	}
	var last []byte
	for i := range items {
		var entry []byte
		entry, b, _ = cut(b[len(f.tag):], f.wire)
		k, e, ok := keyAndValue(entry, false)
		if !ok || i > 0 && string(k) <= string(last) { // else a key that comes twice would count twice
			return false
		}
		if value, ok := is[string(k)]; !ok || value != string(e) {
			return false
		}
		last = k
	}
	return true
}

// zero tells whether size bytes at v are all zero.
func zero(v unsafe.Pointer, size uintptr) bool {
	all := unsafe.Slice((*byte)(v), size)
	for ; len(all) >= 8; all = all[8:] {
		if binary.NativeEndian.Uint64(all) != 0 {
			return false
		}
	}
	for _, b := range all {
		if b != 0 {
			return false
		}
	}
	return true
}
