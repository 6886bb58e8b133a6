package fastjson

import (
	"encoding/base64"
	"encoding/json"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"fairlead.dev/internal/codec/intern"
	"fairlead.dev/internal/rawmem"
)

// Unmarshal decodes one JSON value into the zero value that into points to. It returns false if it cannot; the
// value is then undefined.
//
// Members without a field are not checked: b must come from a correct encoder.
func Unmarshal(b []byte, into any) bool { return unmarshal(b, into, false, false) }

// UnmarshalUnmanaged is Unmarshal without the managedFields of an object or of the items of a list. managedFields
// elsewhere, as in the template of a pod, are decoded.
func UnmarshalUnmanaged(b []byte, into any) bool { return unmarshal(b, into, false, true) }

// UnmarshalStrict is Unmarshal for untrusted input. It also returns false for unknown fields and for duplicate
// names in an object.
func UnmarshalStrict(b []byte, into any) bool { return unmarshal(b, into, true, false) }

func unmarshal(b []byte, into any, strict, unmanaged bool) bool {
	d := decoders.Get().(*decoder)
	ok := d.unmarshal(b, into, strict, unmanaged)
	decoders.Put(d)
	return ok
}

func (d *decoder) unmarshal(b []byte, into any, strict, unmanaged bool) bool {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return false
	}
	p := typeCodecOf(v.Type().Elem())
	d.b, d.i, d.depth, d.strict, d.unmanaged = b, 0, 0, strict, 0
	if unmanaged {
		d.unmanaged = p.metadataDepth()
	}
	ok := d.value(p, rawmem.Of(v))
	d.skipSpace()
	ok = ok && d.i == len(d.b)
	d.b = nil
	return ok
}

// decoder is a position in the input. Its methods return false to give up.
type decoder struct {
	b      []byte
	i      int
	depth  int
	strict bool
	// unmanaged is the depth at which managedFields are skipped; 0 for none.
	unmanaged int
	texts     intern.Texts
	values    *intern.Values // nil shares only texts
	room      map[*typeCodec]*elements
}

// maxDepth is how deep objects may be nested.
const maxDepth = 200

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// skipSpace skips white space and returns the byte after it, or 0 at the end.
func (d *decoder) skipSpace() byte {
	for ; d.i < len(d.b); d.i++ {
		if c := d.b[d.i]; c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c
		}
	}
	return 0
}

func (d *decoder) literal(s string) bool {
	if len(d.b)-d.i < len(s) || string(d.b[d.i:d.i+len(s)]) != s {
		return false
	}
	d.i += len(s)
	return true
}

// value decodes into the value of the codec's type at v.
func (d *decoder) value(p *typeCodec, v rawmem.Pointer) bool {
	c := d.skipSpace()
	if c == 'n' && p.op != unknown && p.op != custom && p.op != quantity && p.op != intOrText {
		switch p.op {
		case pointer, slice, bytes, mapping, stringMap, timestamp:
			v.Value(p.typ).SetZero()
		}
		return d.literal("null")
	}
	switch p.op {
	case text:
		s, ok := d.text()
		if ok {
			*rawmem.At[string](v) = s
		}
		return ok
	case structure:
		return d.structure(p, v)
	case pointer:
		at := rawmem.At[rawmem.Pointer](v)
		if at.IsNil() {
			*at = rawmem.New(p.elem.typ)
		}
		return d.value(p.elem, *at)
	case slice:
		return d.slice(p, v)
	case stringMap:
		return d.stringMap(rawmem.At[map[string]string](v))
	case mapping:
		if p.elem.op == quantity {
			return d.quantities(rawmem.At[map[string]resource.Quantity](v))
		}
		return d.mapping(p, v.Value(p.typ))
	case integer:
		n, ok := d.number()
		return ok && setInt(v, p.size, n)
	case unsigned:
		n, ok := d.number()
		if !ok || n < 0 {
			return false
		}
		to := v.Value(p.typ)
		if to.OverflowUint(uint64(n)) {
			return false
		}
		to.SetUint(uint64(n))
		return true
	case boolean:
		*rawmem.At[bool](v) = c == 't'
		return c == 't' && d.literal("true") || c == 'f' && d.literal("false")
	case timestamp:
		return d.timestamp(rawmem.At[metav1.Time](v))
	case bytes:
		s, ok := d.text()
		b, err := base64.StdEncoding.DecodeString(s)
		if !ok || err != nil {
			return false
		}
		*rawmem.At[[]byte](v) = b
		return true
	case quantity:
		b, ok := d.raw()
		return ok && rawmem.At[resource.Quantity](v).UnmarshalJSON(b) == nil
	case intOrText:
		b, ok := d.raw()
		return ok && rawmem.At[intstr.IntOrString](v).UnmarshalJSON(b) == nil
	case custom:
		b, ok := d.raw()
		return ok && v.Interface(p.typ).(json.Unmarshaler).UnmarshalJSON(b) == nil
	}
	return false
}

// setInt sets an integer of the given size in bytes, if n fits into it.
func setInt(v rawmem.Pointer, size uintptr, n int64) bool {
	switch size {
	case 8:
		*rawmem.At[int64](v) = n
		return true
	case 4:
		*rawmem.At[int32](v) = int32(n)
		return int64(int32(n)) == n
	case 2:
		*rawmem.At[int16](v) = int16(n)
		return int64(int16(n)) == n
	}
	*rawmem.At[int8](v) = int8(n)
	return int64(int8(n)) == n
}

// raw reads a value that its type decodes by itself.
func (d *decoder) raw() ([]byte, bool) {
	from := d.i
	if d.i < len(d.b) && d.b[d.i] == '"' {
		if _, plain := d.quoted(); plain {
			return d.b[from:d.i], true
		}
		d.i = from
	}
	if !d.skip() {
		return nil, false
	}
	b := d.b[from:d.i]
	return b, !d.strict || json.Valid(b)
}

// fieldSet has a bit for each field of a struct.
type fieldSet [16]byte

// structure reads an object into a struct. Servers write fields in the order of the struct, so each name is first
// compared with the field after the previous one.
func (d *decoder) structure(p *typeCodec, v rawmem.Pointer) bool {
	var had fieldSet
	next := 0
	for more := d.open('{'); more; more = d.more('}') {
		name, ok := d.name()
		if !ok {
			return false
		}
		i := -1
		for j := next; j < len(p.fields) && j < next+4; j++ {
			if p.fields[j].name == string(name) {
				i = j
				break
			}
		}
		if i < 0 {
			j, ok := p.byName[string(name)]
			if !ok {
				d.skipSpace()
				if d.strict || !d.skip() {
					return false
				}
				continue
			}
			i = j
		}
		if next = i + 1; d.strict {
			if had[i/8]&(1<<(i%8)) != 0 {
				return false
			}
			had[i/8] |= 1 << (i % 8)
		}
		f := &p.fields[i]
		if !d.member(f, v.Field(f.offset)) {
			return false
		}
	}
	return d.close('}')
}

// open skips the opening bracket and reports whether the object or array has any content.
func (d *decoder) open(bracket byte) bool {
	if d.skipSpace() != bracket {
		d.i = len(d.b) + 1 // which makes close fail
		return false
	}
	d.i++
	if d.depth++; d.depth > maxDepth {
		d.i = len(d.b) + 1
		return false
	}
	c := d.skipSpace()
	return c != '}' && c != ']'
}

// more skips the comma before another member or element, if there is one.
func (d *decoder) more(bracket byte) bool {
	if d.skipSpace() != ',' {
		return false
	}
	d.i++
	return true
}

// close skips the closing bracket.
func (d *decoder) close(bracket byte) bool {
	if d.i > len(d.b) || d.skipSpace() != bracket {
		return false
	}
	d.i++
	d.depth--
	return true
}

// name reads the name of a member and the colon.
func (d *decoder) name() ([]byte, bool) {
	d.skipSpace()
	from := d.i
	name, plain := d.quoted()
	if !plain {
		s, ok := d.escaped(from)
		if !ok {
			return nil, false
		}
		name = []byte(s)
	}
	if d.skipSpace() != ':' {
		return nil, false
	}
	d.i++
	return name, true
}

func (d *decoder) stringMap(into *map[string]string) bool {
	m := *into
	if m == nil {
		m = map[string]string{}
		*into = m
	}
	for more := d.open('{'); more; more = d.more('}') {
		name, ok := d.name()
		if !ok {
			return false
		}
		k, s := d.texts.Share(name), ""
		if d.skipSpace() == 'n' {
			ok = d.literal("null")
		} else {
			s, ok = d.text()
		}
		before := len(m)
		if m[k] = s; !ok || d.strict && len(m) == before {
			return false
		}
	}
	return d.close('}')
}

// quantities reads a map of quantities by keys of a string type (see the function quantities).
func (d *decoder) quantities(into *map[string]resource.Quantity) bool {
	m := *into
	if m == nil {
		m = map[string]resource.Quantity{}
		*into = m
	}
	for more := d.open('{'); more; more = d.more('}') {
		name, ok := d.name()
		if !ok {
			return false
		}
		k := d.texts.Share(name)
		d.skipSpace()
		text, ok := d.raw()
		var q resource.Quantity
		if !ok || q.UnmarshalJSON(text) != nil {
			return false
		}
		before := len(m)
		if m[k] = q; d.strict && len(m) == before {
			return false
		}
	}
	return d.close('}')
}

func (d *decoder) mapping(p *typeCodec, v reflect.Value) bool {
	if v.IsNil() {
		v.Set(reflect.MakeMap(p.typ))
	}
	k, e := reflect.New(p.typ.Key()).Elem(), reflect.New(p.elem.typ)
	at, elem := rawmem.Of(e), e.Elem()
	for more := d.open('{'); more; more = d.more('}') {
		name, ok := d.name()
		if !ok {
			return false
		}
		k.SetString(d.texts.Share(name))
		elem.SetZero()
		if !d.value(p.elem, at) {
			return false
		}
		before := v.Len()
		if v.SetMapIndex(k, elem); d.strict && v.Len() == before {
			return false
		}
	}
	return d.close('}')
}

func (d *decoder) timestamp(t *metav1.Time) bool {
	s, plain := d.quoted()
	if !plain {
		return false
	}
	x, err := time.Parse(time.RFC3339, string(s))
	t.Time = x.Local()
	return err == nil
}
