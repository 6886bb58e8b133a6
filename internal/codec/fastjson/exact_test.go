package fastjson_test

import (
	stdjson "encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"fairlead.dev/client"
	"fairlead.dev/internal/codec/fastjson"
)

func exact(obj any) bool {
	_, exact, _ := fastjson.Marshal(obj)
	return exact
}

// TestExact checks that random objects whose JSON is said to be exact equal the result of decoding it, and that the JSON of
// decoded objects is exact.
func TestExact(t *testing.T) {
	raw, read, n := 0, 0, int64(0)
	for gvk, typ := range client.Scheme.AllKnownTypes() {
		if gvk.Version == runtime.APIVersionInternal || gvk.Kind == "WatchEvent" || leftOut[gvk.Kind] {
			continue
		}
		for range 12 {
			n++
			obj := reflect.New(typ)
			filler(n).Fill(obj.Interface())
			again := reread(t, obj)
			if exact(obj.Interface()) {
				raw++
				if why := differ(obj, again, typ.Name()); why != "" {
					t.Fatalf("%v, seed %d: %s\n%s", gvk, n, why, text(obj.Interface()))
				}
			}
			if exact(again.Interface()) {
				read++
				if why := differ(again, reread(t, again), typ.Name()); why != "" {
					t.Fatalf("%v, seed %d, read: %s\n%s", gvk, n, why, text(obj.Interface()))
				}
			}
		}
	}
	if raw < 200 || read < int(n)/2 {
		t.Errorf("of %d objects, the JSON of %d was exact, and of %d when they had been read", n, raw, read)
	}
}

func reread(t *testing.T, v reflect.Value) reflect.Value {
	t.Helper()
	out := reflect.New(v.Type().Elem())
	if err := stdjson.Unmarshal([]byte(text(v.Interface())), out.Interface()); err != nil {
		t.Fatal(err)
	}
	return out
}

// differ returns the first path at which two values differ; nil and empty count as different. Quantities and times
// have more than one form in memory.
func differ(a, b reflect.Value, at string) string {
	if a.CanInterface() {
		switch x := a.Interface().(type) {
		case resource.Quantity:
			if y := b.Interface().(resource.Quantity); x.Cmp(y) != 0 || x.Format != y.Format {
				return fmt.Sprintf("%s: %#v, %#v", at, x, y)
			}
			return ""
		case metav1.Time:
			if y := b.Interface().(metav1.Time); !x.Time.Equal(y.Time) {
				return fmt.Sprintf("%s: %v, %v", at, x, y)
			}
			return ""
		}
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if a.IsNil() != b.IsNil() {
			return at + ": nil"
		}
	}
	switch a.Kind() {
	case reflect.Pointer:
		if !a.IsNil() {
			return differ(a.Elem(), b.Elem(), at)
		}
	case reflect.Struct:
		for i := range a.NumField() {
			if why := differ(a.Field(i), b.Field(i), at+"."+a.Type().Field(i).Name); why != "" {
				return why
			}
		}
	case reflect.Map, reflect.Slice:
		if a.Len() != b.Len() {
			return at + ": length"
		}
		if a.Kind() == reflect.Slice {
			for i := range a.Len() {
				if why := differ(a.Index(i), b.Index(i), fmt.Sprint(at, "[", i, "]")); why != "" {
					return why
				}
			}
			return ""
		}
		for _, k := range a.MapKeys() {
			y := b.MapIndex(k)
			if !y.IsValid() {
				return fmt.Sprint(at, ": no ", k)
			}
			if why := differ(a.MapIndex(k), y, fmt.Sprint(at, "[", k, "]")); why != "" {
				return why
			}
		}
	default:
		if !a.Equal(b) {
			return fmt.Sprintf("%s: %v, %v", at, a, b)
		}
	}
	return ""
}

// TestInexact checks values that would come back differently.
func TestInexact(t *testing.T) {
	second := metav1.NewTime(time.Unix(1e9, 0))
	pod := func(change func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{}
		p.Name, p.CreationTimestamp = "x", second
		p.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"memory": resource.MustParse("1Gi")}}}}
		change(p)
		return p
	}
	if !exact(pod(func(*corev1.Pod) {})) {
		t.Fatal("a plain pod")
	}
	limit := func(q string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Limits["memory"] = resource.MustParse(q) }
	}
	for name, change := range map[string]func(*corev1.Pod){
		"empty map":          func(p *corev1.Pod) { p.Labels = map[string]string{} },
		"empty slice":        func(p *corev1.Pod) { p.Spec.Containers[0].Env = []corev1.EnvVar{} },
		"part of a second":   func(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(second.Add(time.Millisecond)) },
		"pointed at":         func(p *corev1.Pod) { p.Status.StartTime = &metav1.Time{Time: second.Add(1)} },
		"no text":            func(p *corev1.Pod) { p.Status.Message = "\xff" },
		"no text in a key":   func(p *corev1.Pod) { p.Annotations = map[string]string{"\xff": ""} },
		"no text as a value": func(p *corev1.Pod) { p.Annotations = map[string]string{"k": "\xff"} },
		"far away":           func(p *corev1.Pod) { p.CreationTimestamp = metav1.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) },
		"small binary":       limit("0.5Ki"),
		"broken binary":      limit("1.0001Ki"),
		"exponent":           limit("1e3"),
		"both of a kind": func(p *corev1.Pod) {
			p.Spec.Containers[0].Ports = nil
			p.Spec.Containers[0].LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
				TCPSocket: &corev1.TCPSocketAction{Port: intstr.IntOrString{Type: intstr.Int, IntVal: 1, StrVal: "x"}}}}
		},
	} {
		if exact(pod(change)) {
			t.Errorf("%s: exact", name)
		}
	}
}
