package rawmem_test

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strconv"
	"testing"

	"fairlead.dev/internal/rawmem"
)

// leaves are the types of which random structs are made.
var leaves = []reflect.Type{
	reflect.TypeFor[bool](), reflect.TypeFor[int8](), reflect.TypeFor[int16](), reflect.TypeFor[int32](),
	reflect.TypeFor[int64](), reflect.TypeFor[byte](), reflect.TypeFor[string](), reflect.TypeFor[[]byte](),
	reflect.TypeFor[map[string]string](),
}

// randomStruct returns a random struct type; the structs in it are at most depth deep.
func randomStruct(r *rand.Rand, depth int) reflect.Type {
	var fields []reflect.StructField
	for i := range 1 + r.IntN(6) {
		t := leaves[r.IntN(len(leaves))]
		if depth > 0 && r.IntN(2) == 0 {
			t = randomStruct(r, depth-1)
		}
		switch r.IntN(4) {
		case 0:
			t = reflect.PointerTo(t)
		case 1:
			t = reflect.SliceOf(t)
		}
		fields = append(fields, reflect.StructField{Name: "F" + strconv.Itoa(i), Type: t})
	}
	return reflect.StructOf(fields)
}

// fill sets a value at random by reflection.
func fill(r *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(r.Int64() >> (64 - v.Type().Bits()))
	case reflect.Uint8:
		v.SetUint(r.Uint64() & 0xff)
	case reflect.String:
		v.SetString(strconv.Itoa(r.IntN(1000)))
	case reflect.Pointer:
		if r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem())
		}
	case reflect.Slice:
		if n := r.IntN(4); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n-1, n+1))
		}
		for i := range v.Len() {
			fill(r, v.Index(i))
		}
	case reflect.Map:
		if n := r.IntN(4); n > 0 {
			v.Set(reflect.ValueOf(map[string]string{"n": strconv.Itoa(n)}))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(r, v.Field(i))
		}
	}
}

// read returns a copy of the value of type t at p, made by this package's functions alone.
func read(t reflect.Type, p rawmem.Pointer) reflect.Value {
	v := reflect.New(t).Elem()
	to := rawmem.Of(v.Addr())
	switch t.Kind() {
	case reflect.Bool:
		*rawmem.At[bool](to) = *rawmem.At[bool](p)
	case reflect.Int8:
		*rawmem.At[int8](to) = *rawmem.At[int8](p)
	case reflect.Int16:
		*rawmem.At[int16](to) = *rawmem.At[int16](p)
	case reflect.Int32:
		*rawmem.At[int32](to) = *rawmem.At[int32](p)
	case reflect.Int64:
		*rawmem.At[int64](to) = *rawmem.At[int64](p)
	case reflect.Uint8:
		*rawmem.At[byte](to) = *rawmem.At[byte](p)
	case reflect.String:
		*rawmem.At[string](to) = *rawmem.At[string](p)
	case reflect.Map:
		*rawmem.At[map[string]string](to) = *rawmem.At[map[string]string](p)
	case reflect.Pointer:
		if target := p.Load(); !target.IsNil() {
			at := rawmem.New(t.Elem())
			at.Value(t.Elem()).Set(read(t.Elem(), target))
			*rawmem.At[rawmem.Pointer](to) = at
		}
	case reflect.Slice:
		from := p.Slice()
		if from.Data.IsNil() {
			break
		}
		into := rawmem.SliceAt(rawmem.Of(reflect.MakeSlice(t, from.Len, from.Len)), from.Len)
		for i := range from.Len {
			into.Item(i, t.Elem().Size()).Value(t.Elem()).Set(read(t.Elem(), from.Item(i, t.Elem().Size())))
		}
		*to.Slice() = into
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			to.Field(f.Offset).Value(f.Type).Set(read(f.Type, p.Field(f.Offset)))
		}
	}
	return v
}

// FuzzPointer reads random values of random types by offsets, and compares with reflection. The garbage collector
// runs in between: what a Pointer holds must stay.
func FuzzPointer(f *testing.F) {
	for seed := range uint64(50) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		typ := randomStruct(r, 3)
		from := reflect.New(typ)
		fill(r, from.Elem())
		got := read(typ, rawmem.Of(from))
		if seed%8 == 0 {
			runtime.GC()
		}
		if !reflect.DeepEqual(got.Interface(), from.Elem().Interface()) {
			t.Fatalf("%v:\n%#v\nread as\n%#v", typ, from.Elem(), got)
		}
		if same := rawmem.Of(from).Interface(typ); same != from.Interface() {
			t.Fatalf("Interface returned %p for %p", same, from.Interface())
		}
	})
}

// FuzzIsZero compares IsZero with a loop over the bytes.
func FuzzIsZero(f *testing.F) {
	for n := range 20 {
		f.Add(make([]byte, n))
		b := make([]byte, n+1)
		b[n] = 1
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		want := len(bytes.Trim(b, "\x00")) == 0
		words := make([]uint64, len(b)/8+1) // a value's words are aligned
		at := rawmem.To(&words[0])
		copy(at.Value(reflect.ArrayOf(8*len(words), reflect.TypeFor[byte]())).Slice(0, 8*len(words)).Bytes(), b)
		if got := at.IsZero(uintptr(len(b))); got != want {
			t.Fatalf("IsZero of %x is %v", b, got)
		}
	})
}

// FuzzViews checks that views have the contents of their texts, and that append does not write behind a string.
func FuzzViews(f *testing.F) {
	f.Add([]byte(nil))
	f.Add([]byte("a"))
	f.Add([]byte("app.kubernetes.io/name"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := string(b)
		if rawmem.String(b) != s {
			t.Fatalf("String(%q) is %q", b, rawmem.String(b))
		}
		view := rawmem.Bytes(s)
		if !bytes.Equal(view, b) || cap(view) != len(view) {
			t.Fatalf("Bytes(%q) is %q with room for %d", s, view, cap(view))
		}
		if grown := append(view, '!'); string(grown) != s+"!" || s != string(b) {
			t.Fatalf("append made %q of %q", grown, s)
		}
	})
}

// TestNil checks the operations that a nil Pointer allows.
func TestNil(t *testing.T) {
	var p rawmem.Pointer
	if !p.IsNil() || p != rawmem.To[int](nil) || rawmem.At[int](p) != nil || p.Slice() != nil {
		t.Error("the zero Pointer is not nil")
	}
}

// TestAllocations checks that no function but New allocates.
func TestAllocations(t *testing.T) {
	type pair struct {
		N    int64 // at offset 0, read by At
		list []string
	}
	v, typ := &pair{list: []string{"a", "b"}}, reflect.TypeFor[pair]()
	n := testing.AllocsPerRun(100, func() {
		p := rawmem.To(v)
		*rawmem.At[int64](p)++
		list := p.Field(typ.Field(1).Offset).Slice()
		if rawmem.String(rawmem.Bytes(*rawmem.At[string](list.Item(1, 16)))) != "b" {
			t.Error("another item")
		}
	})
	if n > 1 { // reflect's copy of the field's index
		t.Errorf("%v allocations", n)
	}
}
