package fastjson

import (
	"math"
	"reflect"
	"unicode/utf8"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Settled reports whether decoding the JSON of a struct, given by its pointer, yields an equal struct: it has no
// empty value that would come back as nil, no fraction of a second, and no invalid text. Quantities may come back
// as equal ones of the same format, and times as the same instant in another zone. Settled returns false also if it
// cannot tell.
func Settled(of any) bool {
	v := reflect.ValueOf(of)
	return v.Kind() == reflect.Pointer && !v.IsNil() && planOf(v.Type().Elem()).settled(v.UnsafePointer())
}

func (p *plan) settled(v unsafe.Pointer) bool {
	switch p.op {
	case text:
		return utf8.ValidString(*(*string)(v))
	case structure:
		for i := range p.fields {
			if f := &p.fields[i]; !f.settled(unsafe.Add(v, f.offset)) {
				return false
			}
		}
		return true
	case pointer:
		at := *(*unsafe.Pointer)(v)
		return at == nil || !p.elem.isNull(at) && p.elem.settled(at)
	case slice:
		h := (*header)(v)
		for i := range h.len {
			if !p.elem.settled(unsafe.Add(h.data, uintptr(i)*p.elem.size)) {
				return false
			}
		}
		return true
	case stringMap:
		for k, s := range *(*map[string]string)(v) {
			if !utf8.ValidString(k) || !utf8.ValidString(s) {
				return false
			}
		}
		return true
	case mapping:
		return p.settledMap(reflect.NewAt(p.typ, v).Elem())
	case timestamp:
		t := (*metav1.Time)(v)
		return t.IsZero() || t.Nanosecond() == 0 && t.UTC().Year() >= 0 && t.UTC().Year() <= 9999
	case quantity:
		return settledQuantity((*resource.Quantity)(v))
	case intOrText:
		x := (*intstr.IntOrString)(v)
		return x.Type == intstr.Int && x.StrVal == "" || x.Type == intstr.String && x.IntVal == 0 && utf8.ValidString(x.StrVal)
	case custom:
		return p.typ == fieldsType && compact((*metav1.FieldsV1)(v).GetRawBytes()) && len((*metav1.FieldsV1)(v).GetRawBytes()) > 0
	case integer, unsigned, boolean, bytes:
		return true
	}
	return false
}

// settled is Settled for a field. An omitted field comes back as nil, so nil is settled, and an omitted empty value
// is not.
func (f *field) settled(v unsafe.Pointer) bool {
	switch f.plan.op {
	case integer, unsigned, boolean, text, timestamp:
		return f.plan.settled(v)
	case pointer, stringMap, mapping, slice, bytes: // they all begin with a pointer
		if *(*unsafe.Pointer)(v) == nil {
			return true
		}
		return (f.empty == always || !f.isEmpty(v)) && f.plan.settled(v)
	}
	if f.empty == always || !f.isEmpty(v) {
		return f.plan.settled(v)
	}
	return reflect.NewAt(f.plan.typ, v).Elem().IsZero()
}

// isNull reports whether a value is written as null.
func (p *plan) isNull(v unsafe.Pointer) bool {
	switch p.op {
	case pointer, stringMap, mapping:
		return *(*unsafe.Pointer)(v) == nil
	case slice, bytes:
		return (*header)(v).data == nil
	case timestamp:
		return (*metav1.Time)(v).IsZero()
	}
	return false
}

func (p *plan) settledMap(m reflect.Value) bool {
	if m.Len() == 0 {
		return true
	}
	if p.elem.op == quantity {
		for k, q := range quantities(m) {
			if !utf8.ValidString(k) || !settledQuantity(&q) {
				return false
			}
		}
		return true
	}
	x := reflect.New(p.elem.typ)
	for it := m.MapRange(); it.Next(); {
		x.Elem().Set(it.Value())
		if !utf8.ValidString(it.Key().String()) || !p.elem.settled(x.UnsafePointer()) {
			return false
		}
	}
	return true
}

// settledQuantity is Settled for common quantities. Small and fractional numbers of a binary format are written in
// the decimal format.
func settledQuantity(q *resource.Quantity) bool {
	if q.Format == resource.BinarySI {
		n, whole := q.AsInt64()
		return whole && n != math.MinInt64 && max(n, -n) >= 1024
	}
	return q.Format == resource.DecimalSI
}
