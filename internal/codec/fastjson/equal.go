package fastjson

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"fairlead.dev/internal/rawmem"
)

// Equal reports whether two pointers to one type lead to equal values, where nil equals empty. It returns false also
// if it cannot tell.
func Equal(a, b any) bool {
	v, w := reflect.ValueOf(a), reflect.ValueOf(b)
	if v.Kind() != reflect.Pointer || v.Type() != w.Type() || v.IsNil() || w.IsNil() {
		return false
	}
	return comparer{nilIsEmpty: true}.equal(typeCodecOf(v.Type().Elem()), rawmem.Of(v), rawmem.Of(w))
}

// comparer compares values. With nilIsEmpty it treats nil and empty as equal; otherwise they are equal if they are
// encoded equally.
type comparer struct{ nilIsEmpty bool }

// equal compares two values of the codec's type.
func (c comparer) equal(p *typeCodec, a, b rawmem.Pointer) bool {
	if a == b {
		return true
	}
	switch p.op {
	case text:
		return *rawmem.At[string](a) == *rawmem.At[string](b)
	case structure:
		for i := range p.fields {
			f := &p.fields[i]
			if !c.equalField(f, a.Field(f.offset), b.Field(f.offset)) {
				return false
			}
		}
		return true
	case pointer:
		x, y := a.Load(), b.Load()
		return x == y || !x.IsNil() && !y.IsNil() && c.equal(p.elem, x, y)
	case slice:
		return c.equalSlice(p, a.Slice(), b.Slice())
	case bytes:
		x, y := *rawmem.At[[]byte](a), *rawmem.At[[]byte](b)
		return string(x) == string(y) && (c.nilIsEmpty || (x == nil) == (y == nil))
	case stringMap:
		return c.equalStrings(*rawmem.At[map[string]string](a), *rawmem.At[map[string]string](b))
	case mapping:
		return c.equalMap(p, a.Value(p.typ), b.Value(p.typ))
	case integer, unsigned:
		return getInt(a, p.size) == getInt(b, p.size)
	case boolean:
		return *rawmem.At[bool](a) == *rawmem.At[bool](b)
	case timestamp:
		return rawmem.At[metav1.Time](a).Time.Equal(rawmem.At[metav1.Time](b).Time)
	case quantity:
		x, y := rawmem.At[resource.Quantity](a), rawmem.At[resource.Quantity](b)
		return x.Cmp(*y) == 0 && (c.nilIsEmpty || x.Format == y.Format)
	case intOrText:
		return *rawmem.At[intstr.IntOrString](a) == *rawmem.At[intstr.IntOrString](b)
	}
	return reflect.DeepEqual(a.Interface(p.typ), b.Interface(p.typ))
}

func (c comparer) equalField(f *field, a, b rawmem.Pointer) bool {
	if f.empty != always && !c.nilIsEmpty {
		if x, y := f.isEmpty(a), f.isEmpty(b); x || y {
			return x && y
		}
	}
	return c.equal(f.plan, a, b)
}

func (c comparer) equalSlice(p *typeCodec, a, b *rawmem.Slice) bool {
	if a.Len != b.Len || !c.nilIsEmpty && a.Data.IsNil() != b.Data.IsNil() {
		return false
	}
	if a.Data == b.Data {
		return true
	}
	for i := range a.Len {
		if !c.equal(p.elem, a.Item(i, p.elem.size), b.Item(i, p.elem.size)) {
			return false
		}
	}
	return true
}

func (c comparer) equalStrings(a, b map[string]string) bool {
	if len(a) != len(b) || !c.nilIsEmpty && (a == nil) != (b == nil) {
		return false
	}
	for k, v := range a {
		if w, ok := b[k]; !ok || v != w {
			return false
		}
	}
	return true
}

func (c comparer) equalMap(p *typeCodec, a, b reflect.Value) bool {
	if a.Len() != b.Len() || !c.nilIsEmpty && a.IsNil() != b.IsNil() {
		return false
	}
	if a.Len() == 0 {
		return true
	}
	if p.elem.op == quantity {
		return c.equalQuantities(quantities(a), quantities(b))
	}
	x, y := reflect.New(p.elem.typ), reflect.New(p.elem.typ)
	for it := a.MapRange(); it.Next(); {
		w := b.MapIndex(it.Key())
		if !w.IsValid() {
			return false
		}
		x.Elem().Set(it.Value())
		y.Elem().Set(w)
		if !c.equal(p.elem, rawmem.Of(x), rawmem.Of(y)) {
			return false
		}
	}
	return true
}

func (c comparer) equalQuantities(a, b map[string]resource.Quantity) bool {
	for k, x := range a {
		if y, ok := b[k]; !ok || x.Cmp(y) != 0 || !c.nilIsEmpty && x.Format != y.Format {
			return false
		}
	}
	return true
}

// quantities returns a map of quantities by keys of a string type, without reflection: maps whose key types are
// strings have the same layout and hash.
func quantities(m reflect.Value) map[string]resource.Quantity {
	return *rawmem.At[map[string]resource.Quantity](rawmem.Of(m.Addr()))
}
