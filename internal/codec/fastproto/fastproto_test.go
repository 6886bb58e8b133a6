package fastproto_test

import (
	"math/rand"
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"

	"fairlead.dev/client"
	"fairlead.dev/internal/codec/fastproto"
)

type object interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

func filler(seed int64) *randfill.Filler {
	return randfill.New().RandSource(rand.NewSource(seed)).NilChance(0.3).NumElements(0, 3).MaxDepth(12).Funcs(
		func(t *metav1.Time, c randfill.Continue) { t.Time = time.Unix(c.Int63n(1<<33), 0) },
		func(t *metav1.MicroTime, c randfill.Continue) { t.Time = time.Unix(c.Int63n(1<<33), c.Int63n(1e6)*1e3) },
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewMilliQuantity(c.Int63n(1e9), resource.DecimalSI)
		},
		func(i *intstr.IntOrString, c randfill.Continue) { *i = intstr.FromInt32(int32(c.Intn(100))) },
		func(r *runtime.RawExtension, c randfill.Continue) { r.Raw = []byte(`{}`) },
		func(f *metav1.FieldsV1, c randfill.Continue) { *f = *metav1.NewFieldsV1(`{"f:metadata":{}}`) },
	)
}

// kinds calls f for each Go type of the scheme whose protobuf this package decodes.
func kinds(f func(typ reflect.Type, encoded [][]byte)) (n int) {
	for gvk, typ := range client.Scheme.AllKnownTypes() {
		if _, ok := reflect.New(typ).Interface().(object); !ok || gvk.Version == runtime.APIVersionInternal {
			continue
		}
		fill := filler(int64(len(gvk.Kind)))
		var encoded [][]byte
		for range 4 {
			in := reflect.New(typ).Interface().(object)
			fill.Fill(in)
			if b, err := in.Marshal(); err == nil {
				encoded = append(encoded, b)
			}
		}
		if fastproto.Unmarshal(nil, reflect.New(typ).Interface().(object)) {
			f(typ, encoded)
			n++
		}
	}
	return n
}

// TestSameAsGenerated fills every kind at random, and checks that the generated code and both decoders of this
// package read the same from its protobuf.
func TestSameAsGenerated(t *testing.T) {
	n := kinds(func(typ reflect.Type, encoded [][]byte) {
		sharer := fastproto.NewSharer()
		for range 2 { // the second time the Sharer has seen all values
			for _, b := range encoded {
				want := decode(t, typ, b)
				got, shared := reflect.New(typ).Interface().(object), reflect.New(typ).Interface().(object)
				if !fastproto.Unmarshal(b, got) || !sharer.Unmarshal(b, shared, nil) {
					t.Fatalf("%v: gave up", typ)
				}
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("%v:\n got %+v\nwant %+v", typ, got, want)
				}
				if !reflect.DeepEqual(shared, want) {
					t.Fatalf("%v, shared:\n got %+v\nwant %+v", typ, shared, want)
				}
			}
		}
	})
	if n < 100 {
		t.Errorf("%d kinds only", n)
	}
}

func decode(t *testing.T, typ reflect.Type, b []byte) object {
	t.Helper()
	want := reflect.New(typ).Interface().(object)
	if err := want.Unmarshal(b); err != nil {
		t.Fatal(err)
	}
	return want
}

// TestDamage changes a byte or cuts off the rest: this package must give up, or read the same as the generated
// code.
func TestDamage(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	gaveUp, read := 0, 0
	kinds(func(typ reflect.Type, encoded [][]byte) {
		for _, b := range encoded {
			for range min(10, len(b)) {
				damaged := append([]byte{}, b...)
				at := rnd.Intn(len(b))
				damaged[at] = byte(rnd.Intn(256))
				for _, bad := range [][]byte{damaged, b[:at]} {
					got := reflect.New(typ).Interface().(object)
					if !fastproto.Unmarshal(bad, got) {
						gaveUp++
						continue
					}
					read++
					if want := decode(t, typ, bad); !reflect.DeepEqual(got, want) {
						t.Fatalf("%v: %x:\n got %+v\nwant %+v", typ, bad, got, want)
					}
				}
			}
		}
	})
	if gaveUp == 0 || read == 0 {
		t.Errorf("gave up %d times and read %d", gaveUp, read)
	}
}

// TestShares checks that equal parts of objects share memory from the second object on, and that other parts do
// not.
func TestShares(t *testing.T) {
	pod := func(name string) []byte {
		p := &corev1.Pod{}
		p.Name, p.Labels = name, map[string]string{"app": "web"}
		p.Spec.Tolerations = []corev1.Toleration{{Key: "a"}, {Key: "b"}}
		p.Spec.EnableServiceLinks = new(bool)
		b, err := p.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	s := fastproto.NewSharer()
	var first, a, b corev1.Pod
	if !s.Unmarshal(pod("first"), &first, nil) || !s.Unmarshal(pod("a"), &a, nil) || !s.Unmarshal(pod("b"), &b, nil) {
		t.Fatal("gave up")
	}
	if reflect.ValueOf(a.Labels).Pointer() != reflect.ValueOf(b.Labels).Pointer() ||
		&a.Spec.Tolerations[0] != &b.Spec.Tolerations[0] || a.Spec.EnableServiceLinks != b.Spec.EnableServiceLinks {
		t.Error("equal parts are not shared")
	}
	if a.Name != "a" || b.Name != "b" {
		t.Errorf("names %q and %q", a.Name, b.Name)
	}
	if n := len(append(a.Spec.Tolerations, corev1.Toleration{Key: "c"})); n != 3 || cap(b.Spec.Tolerations) != 2 {
		t.Error("a shared slice has room that an append would write to")
	}
}
