package fastproto

import (
	"reflect"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/codec/intern"
	"fairlead.dev/internal/rawmem"
)

// Unmarshal decodes a message into the zero value that into points to. It returns false if it cannot; the value is
// then undefined.
func Unmarshal(b []byte, into unmarshaler) bool {
	p, v, ok := target(into)
	if !ok {
		return false
	}
	d := decoders.Get().(*decoder)
	ok = d.message(p, v, rawmem.Pointer{}, b, 0)
	decoders.Put(d)
	return ok
}

// target returns the memory to decode into, and its plan.
func target(into unmarshaler) (*plan, rawmem.Pointer, bool) {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return nil, rawmem.Pointer{}, false
	}
	p := planOf(v.Type().Elem())
	return p, rawmem.Of(v), p.op == message
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

type decoder struct {
	texts  intern.Texts
	values *intern.Values // nil shares only texts
	last   *metav1.Time   // the last time decoded for a pointer
}

const maxDepth = 100 // nested messages

// message decodes b into the struct at v. was, unless nil, is a struct of the same type whose parts may be reused.
func (d *decoder) message(p *plan, v, was rawmem.Pointer, b []byte, depth int) bool {
	if depth > maxDepth {
		return false
	}
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
		value, rest, ok := cut(b, f.wire)
		if !ok {
			return false
		}
		b = rest
		at, old := v.Field(f.offset), rawmem.Pointer{}
		if !was.IsNil() {
			old = was.Field(f.offset)
		}
		switch f.form {
		case plain:
			if f.op == text {
				d.text(rawmem.At[string](at), rawmem.At[string](old), value)
				continue
			}
			ok = d.value(f.plan, at, old, value, depth)
		case pointer:
			ok = d.pointer(f, rawmem.At[rawmem.Pointer](at), rawmem.At[rawmem.Pointer](old), value, depth)
		case slice:
			b, ok = d.list(f, at.Slice(), old.Slice(), from, depth)
		default:
			b, ok = d.mapping(f, rawmem.At[rawmem.Pointer](at), rawmem.At[rawmem.Pointer](old), from, depth)
		}
		if !ok {
			return false
		}
	}
	return true
}

// run counts the items of a list or a map that follow one another here, each with its tag, and splits off the rest.
func (f *field) run(b []byte) (run, rest []byte, items int, ok bool) {
	for rest = b; hasTag(rest, f.tag); items++ {
		if _, rest, ok = cut(rest[len(f.tag):], f.wire); !ok {
			return nil, nil, 0, false
		}
	}
	return b[:len(b)-len(rest)], rest, items, true
}

// seek returns the field of a tag longer than one byte, and the rest behind the tag. It skips a field that the plan
// does not have, returning a nil field. For malformed or unusual encodings both results are nil.
func (p *plan) seek(b []byte) (*field, []byte) {
	tag, n := varint(b)
	if n == 0 || tag>>3 == 0 || tag>>3 > uint64(protowire.MaxValidNumber) {
		return nil, nil
	}
	if tag>>3 < uint64(len(p.fields)) {
		if f := p.fields[tag>>3]; f != nil {
			if !hasTag(b, f.tag) { // another wire type, or a longer encoding than necessary
				return nil, nil
			}
			return f, b[n:]
		}
	}
	m := protowire.ConsumeFieldValue(protowire.Number(tag>>3), protowire.Type(tag&7), b[n:])
	if m < 0 {
		return nil, nil
	}
	return nil, b[n+m:]
}

func hasTag(b []byte, tag string) bool { return len(b) >= len(tag) && string(b[:len(tag)]) == tag }

// cut splits off a value: its contents, or the bytes of a number.
func cut(b []byte, wire protowire.Type) (value, rest []byte, ok bool) {
	if len(b) > 0 && b[0] < 0x80 {
		n := 1
		if wire != protowire.VarintType {
			if n += int(b[0]); n > len(b) {
				return nil, nil, false
			}
			return b[1:n], b[n:], true
		}
		return b[:1], b[1:], true
	}
	x, n := varint(b)
	if n == 0 {
		return nil, nil, false
	}
	if wire == protowire.VarintType {
		return b[:n], b[n:], true
	}
	if x > uint64(len(b)-n) {
		return nil, nil, false
	}
	return b[n : n+int(x)], b[n+int(x):], true
}

// varint reads a number and returns its length, 0 if it is malformed.
func varint(b []byte) (uint64, int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	x, n := protowire.ConsumeVarint(b)
	return x, max(n, 0)
}

// text decodes a string. was is nil or the previous version's.
func (d *decoder) text(v, was *string, b []byte) {
	if was != nil && *was == string(b) {
		*v = *was
	} else {
		*v = d.texts.Share(b)
	}
}

// value decodes b into the value at v. was is nil or the previous version's value.
func (d *decoder) value(p *plan, v, was rawmem.Pointer, b []byte, depth int) bool {
	switch p.op {
	case text:
		d.text(rawmem.At[string](v), rawmem.At[string](was), b)
	case integer:
		x, _ := varint(b)
		if p.size == 4 {
			*rawmem.At[int32](v) = int32(x)
		} else {
			*rawmem.At[int64](v) = int64(x)
		}
	case boolean:
		x, _ := varint(b)
		*rawmem.At[bool](v) = x != 0
	case bytes:
		*rawmem.At[[]byte](v) = append([]byte{}, b...)
	case message:
		return d.message(p, v, was, b, depth+1)
	case timestamp:
		return moment(rawmem.At[metav1.Time](v), b)
	case own:
		return v.Interface(p.typ).(unmarshaler).Unmarshal(b) == nil
	}
	return true
}

// moment decodes a metav1.Time with whole seconds. Other forms, and an absent one, are left to the type itself.
func moment(t *metav1.Time, b []byte) bool {
	const secondsTag, nanosTag = 1 << 3, 2 << 3
	if len(b) > 1 && b[0] == secondsTag {
		x, n := varint(b[1:])
		rest := b[1+n:]
		if n > 0 && (len(rest) == 0 || len(rest) == 2 && rest[0] == nanosTag && rest[1] < 0x80) {
			t.Time = time.Unix(int64(x), 0).Local()
			return true
		}
	}
	return t.Unmarshal(b) == nil
}

// pointer decodes b into a new value. A duplicate field is refused: it would modify a value that may be shared.
func (d *decoder) pointer(f *field, v, was *rawmem.Pointer, b []byte, depth int) bool {
	if !v.IsNil() {
		return false
	}
	var old rawmem.Pointer
	if was != nil {
		old = *was
	}
	if !old.IsNil() && d.same(f.plan, old, b, depth+1) {
		*v = old
		return true
	}
	if f.op == timestamp && d.values != nil {
		return d.instant(rawmem.At[*metav1.Time](rawmem.To(v)), b)
	}
	known, place, found := d.find(f, b)
	if found {
		*v = known.At
		return true
	}
	*v = rawmem.New(f.plan.typ)
	if !d.value(f.plan, *v, old, b, depth) {
		return false
	}
	place.Keep(b, intern.Value{At: *v})
	return true
}

// instant decodes a time behind a pointer. Those of an object are often equal: each of its managed fields entries
// has one.
func (d *decoder) instant(v **metav1.Time, b []byte) bool {
	var t metav1.Time
	if !moment(&t, b) {
		return false
	}
	if d.last == nil || *d.last != t {
		d.last = new(metav1.Time)
		*d.last = t
	}
	*v = d.last
	return true
}

// list decodes the items that follow one another here, and returns the rest.
func (d *decoder) list(f *field, v, was *rawmem.Slice, b []byte, depth int) ([]byte, bool) {
	if !v.Data.IsNil() { // the items are not contiguous
		return nil, false
	}
	var old rawmem.Slice
	if was != nil {
		old = *was
		if rest, ok := d.sameRun(f, old, b, depth); ok {
			*v = rawmem.SliceAt(old.Data, old.Len)
			return rest, true
		}
	}
	b, rest, items, ok := f.run(b)
	if !ok {
		return nil, false
	}
	known, place, found := d.find(f, b)
	if found {
		*v = rawmem.SliceAt(known.At, known.N)
		return rest, true
	}
	list := rawmem.SliceAt(f.items(items), items)
	for i, left := 0, b; i < items; i++ {
		var item []byte
		item, left, _ = cut(left[len(f.tag):], f.wire) // run has checked it
		var last rawmem.Pointer
		if i < old.Len {
			last = old.Item(i, f.plan.size)
		}
		if !d.value(f.plan, list.Item(i, f.plan.size), last, item, depth) {
			return nil, false
		}
	}
	*v = list
	place.Keep(b, intern.Value{At: list.Data, N: items})
	return rest, true
}

// items allocates memory for n items.
func (f *field) items(n int) rawmem.Pointer {
	if n == 1 { // most lists have one item, and a slice's header would be allocated too
		return rawmem.New(f.plan.typ)
	}
	return rawmem.Of(reflect.MakeSlice(f.typ, n, n))
}

// mapping decodes the entries of a map that follow one another here, and returns the rest.
func (d *decoder) mapping(f *field, v, was *rawmem.Pointer, b []byte, depth int) ([]byte, bool) {
	b, rest, items, ok := f.run(b)
	if !ok || !v.IsNil() {
		return nil, false
	}
	if was != nil && d.sameMap(f, *was, b, items) {
		*v = *was
		return rest, true
	}
	known, place, found := d.find(f, b)
	if found {
		*v = known.At
		return rest, true
	}
	if !d.entries(f, rawmem.To(v), b, items, depth) {
		return nil, false
	}
	place.Keep(b, intern.Value{At: *v})
	return rest, true
}

// entries decodes the entries of a map, each a message of a key and a value.
func (d *decoder) entries(f *field, v rawmem.Pointer, b []byte, items, depth int) bool {
	var put func(k string, e []byte) bool
	switch {
	case f.plan.op == text:
		m := make(map[string]string, items)
		*rawmem.At[map[string]string](v) = m
		put = func(k string, e []byte) bool { m[k] = d.texts.Share(e); return true }
	case f.plan.typ == quantityType:
		m := make(map[string]resource.Quantity, items)
		*rawmem.At[map[string]resource.Quantity](v) = m
		put = func(k string, e []byte) bool {
			var q resource.Quantity
			err := q.Unmarshal(e)
			m[k] = q
			return err == nil
		}
	default:
		m := reflect.MakeMapWithSize(f.typ, items)
		v.Value(f.typ).Set(m)
		key, elem := reflect.New(f.typ.Key()).Elem(), reflect.New(f.plan.typ)
		put = func(k string, e []byte) bool {
			elem.Elem().SetZero()
			if f.plan.op == own && f.plan.typ.Kind() == reflect.Slice { // generated code starts with an empty one
				elem.Elem().Set(reflect.MakeSlice(f.plan.typ, 0, 0))
			}
			key.SetString(k)
			ok := d.value(f.plan, rawmem.Of(elem), rawmem.Pointer{}, e, depth)
			m.SetMapIndex(key, elem.Elem())
			return ok
		}
	}
	for range items {
		var entry []byte
		entry, b, _ = cut(b[len(f.tag):], f.wire)
		k, e, ok := keyAndValue(entry, f.plan.op == bytes)
		if !ok || !put(d.texts.Share(k), e) {
			return false
		}
	}
	return true
}

// keyAndValue reads a map entry in its usual form. If optional is set, the value may be missing.
func keyAndValue(b []byte, optional bool) (k, v []byte, ok bool) {
	const keyTag, valueTag = "\x0a", "\x12"
	if !hasTag(b, keyTag) {
		return nil, nil, false
	}
	if k, b, ok = cut(b[1:], protowire.BytesType); !ok || !hasTag(b, valueTag) {
		return k, nil, ok && optional && len(b) == 0
	}
	v, b, ok = cut(b[1:], protowire.BytesType)
	return k, v, ok && len(b) == 0
}
