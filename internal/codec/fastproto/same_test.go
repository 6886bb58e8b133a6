package fastproto_test

import (
	"math/rand"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/codec/fastproto"
)

// TestAfterAnother decodes each object of every kind, damaged or not, given each other object of its kind and
// itself as the previous version. The result must be the generated code's, and the previous version must not
// change.
func TestAfterAnother(t *testing.T) {
	rnd := rand.New(rand.NewSource(2))
	read := 0
	kinds(func(typ reflect.Type, encoded [][]byte) {
		for _, before := range encoded {
			sharer := fastproto.NewSharer()
			was := decode(t, typ, before)
			for _, b := range encoded {
				damaged := append([]byte{}, b...)
				if len(b) > 0 {
					damaged[rnd.Intn(len(b))] ^= 1 << rnd.Intn(8)
				}
				for _, b := range [][]byte{b, damaged, append(append([]byte{}, b...), b...)} {
					got := reflect.New(typ).Interface().(object)
					if !sharer.Unmarshal(b, got, was) {
						continue
					}
					read++
					if want := decode(t, typ, b); !reflect.DeepEqual(got, want) {
						t.Fatalf("%v: %x after %x:\n got %+v\nwant %+v", typ, b, before, got, want)
					}
				}
			}
			if !reflect.DeepEqual(was, decode(t, typ, before)) {
				t.Fatalf("%v: the object before was changed", typ)
			}
		}
	})
	if read < 1000 {
		t.Errorf("read %d objects only", read)
	}
}

// TestTakesOver checks that a new version shares the unchanged parts of the previous one, and that only the changed
// parts are allocated.
func TestTakesOver(t *testing.T) {
	p := &corev1.Pod{}
	p.Name, p.Namespace, p.ResourceVersion = "a", "default", "1"
	p.Labels = map[string]string{"app": "a", "tier": "front"}
	p.Spec.Containers = []corev1.Container{{Name: "a", Env: []corev1.EnvVar{{Name: "x", Value: "a"}}}, {Name: "b"}}
	p.Status.Conditions = []corev1.PodCondition{{Type: "Ready", Status: "False", Reason: "a long reason"}, {Type: "Initialized"}}
	encode := func() []byte {
		b, err := p.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	before := encode()
	p.ResourceVersion, p.Status.Conditions[0].Status = "2", "True"
	after := encode()
	ns, name := fastproto.Names(after)
	if string(ns) != "default" || string(name) != "a" {
		t.Errorf("the object of %q in %q", name, ns)
	}
	s := fastproto.NewSharer()
	var was, now corev1.Pod
	if !s.Unmarshal(before, &was, nil) || !s.Unmarshal(after, &now, &was) {
		t.Fatal("gave up")
	}
	if reflect.ValueOf(now.Labels).Pointer() != reflect.ValueOf(was.Labels).Pointer() || &now.Spec.Containers[0] != &was.Spec.Containers[0] {
		t.Error("what is equal is not shared")
	}
	if &now.Status.Conditions[0] == &was.Status.Conditions[0] || now.Status.Conditions[0].Status != "True" || was.Status.Conditions[0].Status != "False" {
		t.Errorf("conditions %+v after %+v", now.Status.Conditions, was.Status.Conditions)
	}
	var next corev1.Pod
	if n := testing.AllocsPerRun(100, func() {
		next = corev1.Pod{}
		s.Unmarshal(after, &next, &now)
	}); n > 0 {
		t.Errorf("%v allocations for what is there already", n)
	}
}

// TestNames checks that Names of malformed input returns empty names and does not panic.
func TestNames(t *testing.T) {
	for _, b := range []string{"", "\x0a", "\x0a\x05", "\x0a\x02\x0a\x09", "\x12\x00", "\x0a\x03\x1a\x01n", "\xff\xff"} {
		ns, name := fastproto.Names([]byte(b))
		if len(name) != 0 || len(ns) != 0 && string(ns) != "n" {
			t.Errorf("%q: %q in %q", b, name, ns)
		}
	}
}
