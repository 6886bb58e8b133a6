package fastjson_test

import (
	stdjson "encoding/json"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/client"
	"fairlead.dev/internal/codec/fastjson"
)

// TestSame compares random objects of every kind, some of which differ in a member or two, and checks the results
// against apimachinery's.
func TestSame(t *testing.T) {
	alike, unlike, n := 0, 0, int64(0)
	for gvk, typ := range client.Scheme.AllKnownTypes() {
		if gvk.Version == runtime.APIVersionInternal || gvk.Kind == "WatchEvent" || leftOut[gvk.Kind] {
			continue
		}
		for range 6 {
			n++
			a, b, other := reflect.New(typ), reflect.New(typ), reflect.New(typ)
			filler(n).Fill(a.Interface())
			filler(n).Fill(b.Interface())
			filler(-n).Fill(other.Interface())
			if i := int(n) % typ.NumField(); n%3 > 0 {
				b.Elem().Field(i).Set(other.Elem().Field(i))
			}
			x, y := a.Interface(), b.Interface()
			got, want := fastjson.Equal(x, y), equality.Semantic.DeepEqual(x, y)
			if got && !want || want && n%3 == 0 && !got {
				t.Fatalf("%v: same is %v, want %v:\n%s\n%s", gvk, got, want, text(x), text(y))
			}
			if want {
				alike++
			} else {
				unlike++
			}
			pairsAre(t, x, y)
		}
	}
	if alike < 100 || unlike < 100 {
		t.Errorf("%d pairs alike, %d not", alike, unlike)
	}
}

func text(v any) string {
	b, _ := stdjson.Marshal(v)
	return string(b)
}

// pairsAre compares the pairs of two objects with the members of their JSON.
func pairsAre(t *testing.T, x, y any) {
	t.Helper()
	var before, after map[string]stdjson.RawMessage
	stdjson.Unmarshal([]byte(text(x)), &before)
	stdjson.Unmarshal([]byte(text(y)), &after)
	ok := fastjson.Pairs(x, y, func(name string, p fastjson.Pair) {
		old, new, _, ok := p.Texts(nil)
		if !ok || string(old) != string(before[name]) || string(new) != string(after[name]) {
			t.Fatalf("%T: %s is %s and %s, want %s and %s", x, name, old, new, before[name], after[name])
		}
		if p.Equal() && string(old) != string(new) {
			t.Fatalf("%T: %s is not the same: %s and %s", x, name, old, new)
		}
		delete(before, name)
		delete(after, name)
	})
	if !ok || len(before) > 0 || len(after) > 0 {
		t.Fatalf("%T: not visited: %v %v", x, before, after)
	}
}

// TestSameOfOdd checks that nil equals empty only for Same.
func TestSameOfOdd(t *testing.T) {
	a, b := &corev1.Pod{}, &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{}, NodeSelector: map[string]string{}}}
	if !fastjson.Equal(a, b) {
		t.Error("nil and empty differ")
	}
	fastjson.Pairs(a, b, func(name string, p fastjson.Pair) {
		if p.Equal() != (name != "spec") {
			t.Errorf("%s is the same: %v", name, p.Equal())
		}
	})
	var none *corev1.Pod
	if fastjson.Equal(a, none) || fastjson.Equal(a, &corev1.Service{}) || fastjson.Pairs(a, &corev1.Service{}, nil) {
		t.Error("what is not there, or is of another type, is the same")
	}
}
