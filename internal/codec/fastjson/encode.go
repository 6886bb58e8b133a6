package fastjson

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"fairlead.dev/internal/codec/jsonscan"
	"fairlead.dev/internal/rawmem"
)

// Marshal returns the JSON of the value that from points to, byte for byte as encoding/json writes it. ok is
// false if it cannot.
//
// exact reports whether decoding that JSON is known to yield an equal value: it has no empty value that would come back
// as nil, no fraction of a second, and no invalid text. Quantities may come back as equal ones of the same format, and
// times as the same instant in another zone.
func Marshal(from any) (text []byte, exact, ok bool) {
	s := encoders.Get().(*encoder)
	defer encoders.Put(s)
	b, ok := s.marshal(from)
	if !ok {
		return nil, false, false
	}
	return slices.Clone(b), !s.loses, true
}

// encoder encodes values, and keeps the memory for it.
type encoder struct {
	b     []byte
	keys  []string
	depth int
	// loses: decoding the JSON may yield another value.
	loses bool
}

// enter increments the depth before following a pointer, a slice or a map. It returns false if the depth is
// exceeded, as in a cyclic value. The caller decrements s.depth afterwards, unless it gives up.
func (s *encoder) enter() bool {
	s.depth++
	return s.depth <= maxDepth
}

// maxPooled is the largest memory of an encoder, in bytes, that is pooled.
const maxPooled = 64 << 10

var encoders = sync.Pool{New: func() any { return new(encoder) }}

func (s *encoder) marshal(from any) ([]byte, bool) {
	v := reflect.ValueOf(from)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return nil, false
	}
	s.depth, s.loses = 0, false
	b, ok := s.value(s.b[:0], typeCodecOf(v.Type().Elem()), rawmem.Of(v))
	if s.b = b[:0]; cap(b) > maxPooled {
		s.b = nil
	}
	return b, ok
}

// value appends the value of the codec's type at v.
func (s *encoder) value(b []byte, p *typeCodec, v rawmem.Pointer) ([]byte, bool) {
	switch p.op {
	case text:
		return s.text(b, *rawmem.At[string](v))
	case structure:
		return s.structure(b, p, v)
	case pointer:
		at := v.Load()
		if at.IsNil() {
			return append(b, "null"...), true
		}
		if !s.enter() {
			return b, false
		}
		s.loses = s.loses || p.elem.isNull(at)
		b, ok := s.value(b, p.elem, at)
		s.depth--
		return b, ok
	case slice:
		return s.slice(b, p, v.Slice())
	case stringMap:
		return sorted(s, b, *rawmem.At[map[string]string](v), s.text)
	case mapping:
		return s.mapping(b, p, v.Value(p.typ))
	case integer:
		return strconv.AppendInt(b, getInt(v, p.size), 10), true
	case unsigned:
		return strconv.AppendUint(b, v.Value(p.typ).Uint(), 10), true
	case boolean:
		return strconv.AppendBool(b, *rawmem.At[bool](v)), true
	case timestamp:
		t := rawmem.At[metav1.Time](v)
		if t.IsZero() {
			return append(b, "null"...), true
		}
		utc := t.UTC()
		s.loses = s.loses || utc.Nanosecond() != 0 || utc.Year() < 0 || utc.Year() > 9999
		return append(utc.AppendFormat(append(b, '"'), time.RFC3339), '"'), true
	case bytes:
		data := *rawmem.At[[]byte](v)
		if data == nil {
			return append(b, "null"...), true
		}
		return append(base64.StdEncoding.AppendEncode(append(b, '"'), data), '"'), true
	case quantity:
		return s.quantity(b, rawmem.At[resource.Quantity](v))
	case intOrText:
		x := rawmem.At[intstr.IntOrString](v)
		switch x.Type {
		case intstr.Int:
			s.loses = s.loses || x.StrVal != ""
			return strconv.AppendInt(b, int64(x.IntVal), 10), true
		case intstr.String:
			s.loses = s.loses || x.IntVal != 0
			return s.text(b, x.StrVal)
		}
		return b, false
	case custom:
		if !p.writes {
			return b, false
		}
		if p.typ == fieldsType {
			if raw := rawmem.At[metav1.FieldsV1](v).GetRawBytes(); len(raw) > 0 && compact(raw) {
				return append(b, raw...), true
			}
		}
		s.loses = true // the methods of the type may do anything
		text, err := json.Marshal(v.Interface(p.typ))
		return append(b, text...), err == nil
	}
	return b, false
}

// compact reports whether valid JSON is formatted and escaped as encoding/json would write it.
func compact(b []byte) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		and, angle := x^(ones*'&'), x&^(ones*2)^(ones*'<') // < and > differ in one bit
		if ((and-ones)&^and|(angle-ones)&^angle|(x-ones*('!'))|x)&highs != 0 {
			return false
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c <= ' ' || c == '<' || c == '>' || c == '&' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func getInt(v rawmem.Pointer, size uintptr) int64 {
	switch size {
	case 8:
		return *rawmem.At[int64](v)
	case 4:
		return int64(*rawmem.At[int32](v))
	case 2:
		return int64(*rawmem.At[int16](v))
	}
	return int64(*rawmem.At[int8](v))
}

func (s *encoder) structure(b []byte, p *typeCodec, v rawmem.Pointer) ([]byte, bool) {
	b = append(b, '{')
	from := len(b)
	for i := range p.fields {
		f := &p.fields[i]
		at := v.Field(f.offset)
		if f.empty != always && f.isEmpty(at) {
			s.loses = s.loses || !f.isZero(at)
			continue
		}
		if len(b) > from {
			b = append(b, ',')
		}
		b = append(b, f.quoted...)
		var ok bool
		if b, ok = s.value(b, f.plan, at); !ok {
			return b, false
		}
	}
	return append(b, '}'), true
}

// isEmpty reports whether the field is omitted.
func (f *field) isEmpty(v rawmem.Pointer) bool {
	p := f.plan
	switch f.empty {
	case omitZeroOf:
		if p.op == timestamp {
			return rawmem.At[metav1.Time](v).IsZero()
		}
		if p.typ.Kind() == reflect.Pointer {
			return v.Load().IsNil() || v.Value(p.typ).Interface().(zeroer).IsZero()
		}
		return v.Interface(p.typ).(zeroer).IsZero()
	case omitZero:
		return v.Value(p.typ).IsZero()
	}
	switch p.op {
	case text:
		return *rawmem.At[string](v) == ""
	case pointer:
		return v.Load().IsNil()
	case slice, bytes:
		return v.Slice().Len == 0
	case stringMap:
		return len(*rawmem.At[map[string]string](v)) == 0
	case boolean:
		return !*rawmem.At[bool](v)
	case integer:
		return getInt(v, p.size) == 0
	case structure, timestamp, quantity, intOrText:
		return false
	}
	switch x := v.Value(p.typ); x.Kind() {
	case reflect.Map, reflect.Slice, reflect.Array, reflect.String:
		return x.Len() == 0
	case reflect.Struct:
		return false
	default:
		return x.IsZero()
	}
}

// isZero reports whether a field that is omitted has the value with which it comes back.
func (f *field) isZero(v rawmem.Pointer) bool {
	switch f.plan.op {
	case integer, unsigned, boolean, text, timestamp:
		return true
	case pointer, stringMap, mapping, slice, bytes: // they all begin with a pointer
		return v.Load().IsNil()
	}
	return v.Value(f.plan.typ).IsZero()
}

// isNull reports whether a value is written as null.
func (p *typeCodec) isNull(v rawmem.Pointer) bool {
	switch p.op {
	case pointer, stringMap, mapping:
		return v.Load().IsNil()
	case slice, bytes:
		return v.Slice().Data.IsNil()
	case timestamp:
		return rawmem.At[metav1.Time](v).IsZero()
	}
	return false
}

func (s *encoder) slice(b []byte, p *typeCodec, h *rawmem.Slice) ([]byte, bool) {
	if h.Data.IsNil() {
		return append(b, "null"...), true
	}
	if !s.enter() {
		return b, false
	}
	b = append(b, '[')
	for i := range h.Len {
		if i > 0 {
			b = append(b, ',')
		}
		var ok bool
		if b, ok = s.value(b, p.elem, h.Item(i, p.elem.size)); !ok {
			return b, false
		}
	}
	s.depth--
	return append(b, ']'), true
}

// sorted appends a map in the order of its keys; a nil map is null.
func sorted[V any](s *encoder, b []byte, m map[string]V, add func([]byte, V) ([]byte, bool)) ([]byte, bool) {
	if m == nil {
		return append(b, "null"...), true
	}
	keys := s.keys[:0]
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	b = append(b, '{')
	ok := true
	for i, k := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		if b, ok = s.text(b, k); !ok {
			break
		}
		if b, ok = add(append(b, ':'), m[k]); !ok {
			break
		}
	}
	clear(keys)
	s.keys = keys[:0]
	return append(b, '}'), ok
}

// quantity appends a quantity. Small and fractional numbers of a binary format are written in the decimal format.
func (s *encoder) quantity(b []byte, q *resource.Quantity) ([]byte, bool) {
	switch q.Format {
	case resource.DecimalSI:
	case resource.BinarySI:
		n, whole := q.AsInt64()
		s.loses = s.loses || !whole || n == math.MinInt64 || max(n, -n) < 1024
	default:
		s.loses = true
	}
	text, err := q.MarshalJSON()
	return append(b, text...), err == nil
}

func (s *encoder) mapping(b []byte, p *typeCodec, m reflect.Value) ([]byte, bool) {
	if m.IsNil() {
		return append(b, "null"...), true
	}
	if p.elem.op == quantity {
		return sorted(s, b, quantities(m), func(b []byte, q resource.Quantity) ([]byte, bool) { return s.quantity(b, &q) })
	}
	if !s.enter() {
		return b, false
	}
	type entry struct {
		key   string
		value reflect.Value
	}
	var space [4]entry
	list := space[:0]
	for it := m.MapRange(); it.Next(); {
		v := reflect.New(p.elem.typ)
		v.Elem().Set(it.Value())
		list = append(list, entry{it.Key().String(), v})
	}
	slices.SortFunc(list, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	b = append(b, '{')
	for i, e := range list {
		if i > 0 {
			b = append(b, ',')
		}
		var ok bool
		if b, ok = s.text(b, e.key); !ok {
			return b, false
		}
		if b, ok = s.value(append(b, ':'), p.elem, rawmem.Of(e.value)); !ok {
			return b, false
		}
	}
	s.depth--
	return append(b, '}'), true
}

// text appends a quoted string.
func (s *encoder) text(b []byte, of string) ([]byte, bool) {
	raw := rawmem.Bytes(of)
	b = append(b, '"')
	for from := 0; ; {
		at := jsonscan.Escaped(raw, from)
		b = append(b, raw[from:at]...)
		if at == len(raw) {
			return append(b, '"'), true
		}
		switch c := raw[at]; c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '<', '>', '&':
			b = append(b, `\u00`...)
			b = append(b, "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		default:
			s.loses = s.loses || !utf8.ValidString(of[at:])
			return appendEscaped(b, of, at)
		}
		from = at + 1
	}
}

// appendEscaped appends the rest of a string by encoding/json.
func appendEscaped(b []byte, s string, at int) ([]byte, bool) {
	text, err := json.Marshal(s[at:])
	if err != nil {
		return b, false
	}
	return append(b, text[1:]...), true
}
