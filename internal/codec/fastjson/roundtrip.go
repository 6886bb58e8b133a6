package fastjson

import (
	"math"
	"reflect"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"fairlead.dev/internal/rawmem"
)

// RoundTrips reports whether decoding the JSON of a struct, given by its pointer, yields an equal struct: it has no
// empty value that would come back as nil, no fraction of a second, and no invalid text. Quantities may come back
// as equal ones of the same format, and times as the same instant in another zone. RoundTrips returns false also if it
// cannot tell.
func RoundTrips(of any) bool {
	v := reflect.ValueOf(of)
	return v.Kind() == reflect.Pointer && !v.IsNil() && typeCodecOf(v.Type().Elem()).roundTrips(rawmem.Of(v))
}

func (p *typeCodec) roundTrips(v rawmem.Pointer) bool {
	switch p.op {
	case text:
		return utf8.ValidString(*rawmem.At[string](v))
	case structure:
		for i := range p.fields {
			if f := &p.fields[i]; !f.roundTrips(v.Field(f.offset)) {
				return false
			}
		}
		return true
	case pointer:
		at := v.Load()
		return at.IsNil() || !p.elem.isNull(at) && p.elem.roundTrips(at)
	case slice:
		h := v.Slice()
		for i := range h.Len {
			if !p.elem.roundTrips(h.Item(i, p.elem.size)) {
				return false
			}
		}
		return true
	case stringMap:
		for k, s := range *rawmem.At[map[string]string](v) {
			if !utf8.ValidString(k) || !utf8.ValidString(s) {
				return false
			}
		}
		return true
	case mapping:
		return p.mapRoundTrips(v.Value(p.typ))
	case timestamp:
		t := rawmem.At[metav1.Time](v)
		return t.IsZero() || t.Nanosecond() == 0 && t.UTC().Year() >= 0 && t.UTC().Year() <= 9999
	case quantity:
		return quantityRoundTrips(rawmem.At[resource.Quantity](v))
	case intOrText:
		x := rawmem.At[intstr.IntOrString](v)
		return x.Type == intstr.Int && x.StrVal == "" || x.Type == intstr.String && x.IntVal == 0 && utf8.ValidString(x.StrVal)
	case custom:
		return p.typ == fieldsType && compact(rawmem.At[metav1.FieldsV1](v).GetRawBytes()) && len(rawmem.At[metav1.FieldsV1](v).GetRawBytes()) > 0
	case integer, unsigned, boolean, bytes:
		return true
	}
	return false
}

// roundTrips is RoundTrips for a field. An omitted field comes back as nil, so nil round-trips, and an omitted empty value
// is not.
func (f *field) roundTrips(v rawmem.Pointer) bool {
	switch f.plan.op {
	case integer, unsigned, boolean, text, timestamp:
		return f.plan.roundTrips(v)
	case pointer, stringMap, mapping, slice, bytes: // they all begin with a pointer
		if v.Load().IsNil() {
			return true
		}
		return (f.empty == always || !f.isEmpty(v)) && f.plan.roundTrips(v)
	}
	if f.empty == always || !f.isEmpty(v) {
		return f.plan.roundTrips(v)
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

func (p *typeCodec) mapRoundTrips(m reflect.Value) bool {
	if m.Len() == 0 {
		return true
	}
	if p.elem.op == quantity {
		for k, q := range quantities(m) {
			if !utf8.ValidString(k) || !quantityRoundTrips(&q) {
				return false
			}
		}
		return true
	}
	x := reflect.New(p.elem.typ)
	for it := m.MapRange(); it.Next(); {
		x.Elem().Set(it.Value())
		if !utf8.ValidString(it.Key().String()) || !p.elem.roundTrips(rawmem.Of(x)) {
			return false
		}
	}
	return true
}

// quantityRoundTrips is RoundTrips for common quantities. Small and fractional numbers of a binary format are written in
// the decimal format.
func quantityRoundTrips(q *resource.Quantity) bool {
	if q.Format == resource.BinarySI {
		n, whole := q.AsInt64()
		return whole && n != math.MinInt64 && max(n, -n) >= 1024
	}
	return q.Format == resource.DecimalSI
}
