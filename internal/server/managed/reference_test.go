package managed_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/builtin"
	"fairlead.dev/internal/server/managed"
	"fairlead.dev/internal/server/openapi"
)

// object is the type of the objects that the tests write.
type object interface {
	runtime.Object
	metav1.Object
}

// same converts between versions of kinds that have only one version.
type same struct{}

func (same) Convert(in, out, context any) error { return nil }
func (same) ConvertToVersion(in runtime.Object, gv runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}
func (same) ConvertFieldLabel(gvk schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}
func (same) Default(runtime.Object) {}
func (same) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	return kind{gvk: gvk}.empty(), nil
}

// reference returns apimachinery's field manager for a kind.
func reference(t *testing.T, gvk schema.GroupVersionKind, sub string, reset *fieldpath.Set) *managedfields.FieldManager {
	t.Helper()
	var filter map[fieldpath.APIVersion]fieldpath.Filter
	if reset != nil {
		filter = fieldpath.NewExcludeFilterSetMap(map[fieldpath.APIVersion]*fieldpath.Set{fieldpath.APIVersion(gvk.GroupVersion().String()): reset})
	}
	m, err := managedfields.NewDefaultFieldManager(converter(t), same{}, same{}, same{}, gvk, gvk.GroupVersion(), sub, filter)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var theConverter managedfields.TypeConverter

func converter(t *testing.T) managedfields.TypeConverter {
	t.Helper()
	if theConverter == nil {
		models, err := openapi.Models(builtin.Resources(), resource.Scheme())
		if err != nil {
			t.Fatal(err)
		}
		if theConverter, err = managedfields.NewTypeConverter(models, false); err != nil {
			t.Fatal(err)
		}
	}
	return theConverter
}

var kinds = []struct {
	gvk      schema.GroupVersionKind
	variants []string
}{
	{corev1.SchemeGroupVersion.WithKind("Pod"), []string{
		`{"metadata":{"name":"p","labels":{"a":"1","b":"<2>"},"annotations":{"x/y":"é"},"finalizers":["f/1","f/2"],"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"u1"}]},
		"spec":{"containers":[{"name":"a","image":"i","ports":[{"containerPort":80,"protocol":"TCP"},{"containerPort":80,"protocol":"UDP"},{"containerPort":9,"protocol":"TCP"}],"env":[{"name":"E","value":"1"},{"name":"F","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],"resources":{"limits":{"cpu":"1","memory":"1Gi"}},"command":["a","b"]},{"name":"b","image":"j"}],
		"volumes":[{"name":"v","emptyDir":{}},{"name":"w","configMap":{"name":"c","items":[{"key":"k","path":"p"}]}}],"nodeSelector":{"k":"v"},"tolerations":[{"key":"t"}],"securityContext":{},"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":"DoNotSchedule"}]},
		"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"},{"type":"X","status":"False"}],"podIPs":[{"ip":"1.1.1.1"}]}}`,
		`{"metadata":{"name":"p","labels":{"a":"2","c":"3"},"annotations":{},"finalizers":["f/2"],"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"u2","controller":true}]},
		"spec":{"containers":[{"name":"b","image":"k","ports":[{"containerPort":9}],"env":[{"name":"E","value":"2"},{"name":"E","value":"3"}],"resources":{"requests":{"cpu":"100m"}},"command":["a"]},{"name":"c","image":"j"}],
		"volumes":[{"name":"v","hostPath":{"path":"/"}}],"tolerations":[{"key":"u"}],"securityContext":{"runAsUser":5},"nodeName":"n","terminationGracePeriodSeconds":3},
		"status":{"phase":"Pending","conditions":[{"type":"Ready","status":"False","message":"m"}],"hostIP":"2.2.2.2"}}`,
	}},
	{appsv1.SchemeGroupVersion.WithKind("Deployment"), []string{
		`{"metadata":{"name":"d","labels":{"a":"1"}},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"1"}},"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1,"maxUnavailable":"25%"}},"template":{"metadata":{"labels":{"a":"1"}},"spec":{"containers":[{"name":"a","image":"i"}]}}},"status":{"replicas":1,"conditions":[{"type":"A","status":"True"}]}}`,
		`{"metadata":{"name":"d"},"spec":{"replicas":2,"selector":{"matchExpressions":[{"key":"a","operator":"Exists"}]},"strategy":{"type":"Recreate"},"template":{"metadata":{"annotations":{"a":"1"}},"spec":{"containers":[{"name":"a","image":"j","env":[{"name":"x"}]}],"imagePullSecrets":[{"name":"s"}]}}},"status":{"replicas":2,"observedGeneration":4}}`,
	}},
	{corev1.SchemeGroupVersion.WithKind("Service"), []string{
		`{"metadata":{"name":"s"},"spec":{"ports":[{"port":80,"protocol":"TCP","targetPort":8080},{"port":443,"name":"https","targetPort":"web"}],"selector":{"a":"b"},"clusterIPs":["1.1.1.1"]},"status":{"loadBalancer":{"ingress":[{"ip":"1.1.1.1"}]}}}`,
		`{"metadata":{"name":"s"},"spec":{"ports":[{"port":80,"protocol":"UDP"},{"port":443,"protocol":"TCP","name":"s"}],"selector":{"c":"b"},"externalIPs":["a"]},"status":{"conditions":[{"type":"A","status":"True","reason":"r","message":"","lastTransitionTime":null}]}}`,
	}},
	{corev1.SchemeGroupVersion.WithKind("ConfigMap"), []string{
		`{"metadata":{"name":"c"},"data":{"a":"1","b.c":"2"},"binaryData":{"z":"aGk="},"immutable":true}`,
		`{"metadata":{"name":"c","labels":{"q":"r"}},"data":{"a":"2"}}`,
	}},
	{corev1.SchemeGroupVersion.WithKind("ServiceAccount"), []string{
		`{"metadata":{"name":"c"},"secrets":[{"name":"a"},{"name":"b"}],"imagePullSecrets":[{"name":"x"}]}`,
		`{"metadata":{"name":"c"},"secrets":[{"name":"b"}],"automountServiceAccountToken":false}`,
	}},
}

// mix combines parts of two values.
func mix(r *rand.Rand, a, b any) any {
	if r.IntN(10) == 0 {
		return a
	}
	x, ok := a.(map[string]any)
	y, ok2 := b.(map[string]any)
	if ok && ok2 {
		out := map[string]any{}
		for _, m := range []map[string]any{x, y} {
			for _, k := range slices.Sorted(maps.Keys(m)) {
				v := m[k]
				switch {
				case x[k] != nil && y[k] != nil:
					out[k] = mix(r, x[k], y[k])
				case k == "name" || r.IntN(2) == 0:
					out[k] = v
				}
			}
		}
		return out
	}
	l, ok := a.([]any)
	m, ok2 := b.([]any)
	if ok && ok2 {
		out := []any{}
		for _, v := range append(append([]any{}, l...), m...) {
			if r.IntN(2) == 0 {
				out = append(out, v)
			}
		}
		return out
	}
	if r.IntN(2) == 0 {
		return a
	}
	return b
}

func (k kind) random(t *testing.T, r *rand.Rand) object {
	t.Helper()
	var a, b any
	json.Unmarshal([]byte(k.variants[0]), &a)
	json.Unmarshal([]byte(k.variants[1]), &b)
	text, _ := json.Marshal(mix(r, a, b))
	obj := k.empty()
	if err := json.Unmarshal(text, obj); err != nil {
		t.Fatal(err)
	}
	obj.GetObjectKind().SetGroupVersionKind(k.gvk)
	obj.SetName("x")
	obj.SetUID("uid")
	return obj
}

type kind struct {
	gvk      schema.GroupVersionKind
	variants []string
}

func (k kind) empty() object {
	obj, err := resource.Scheme().New(k.gvk)
	if err != nil {
		panic(err)
	}
	obj.GetObjectKind().SetGroupVersionKind(k.gvk)
	return obj.(object)
}

func text(t *testing.T, obj object) []byte {
	t.Helper()
	obj = obj.DeepCopyObject().(object)
	obj.SetManagedFields(nil)
	b, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// timeless formats the entries without their times and without the order that depends on these.
func timeless(t *testing.T, entries []metav1.ManagedFieldsEntry) string {
	t.Helper()
	var lines []string
	for _, e := range entries {
		e.Time = nil
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(b)+"\n")
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// TestUpdatesAreTheReference lets managers write random objects over one
// another and compares the record with apimachinery's.
func TestUpdatesAreTheReference(t *testing.T) {
	status, spec := fieldpath.NewSet(fieldpath.MakePathOrDie("status")), fieldpath.NewSet(fieldpath.MakePathOrDie("spec"), fieldpath.MakePathOrDie("metadata", "labels"))
	for _, x := range kinds {
		k := kind(x)
		main, sub := reference(t, k.gvk, "", status), reference(t, k.gvk, "status", spec)
		r := rand.New(rand.NewPCG(7, 9))
		for round := range 50 {
			live := k.empty()
			now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			for step := range 14 {
				now = now.Add(time.Second)
				next := k.random(t, r)
				manager := fmt.Sprint("m", r.IntN(3))
				if round%10 == 0 {
					manager = fmt.Sprint("m", step)
				}
				w := managed.Write{
					Manager: manager, APIVersion: k.gvk.GroupVersion().String(),
					Shape: openapi.ShapeOf(reflect.TypeOf(next).Elem()), Filter: managed.Filter{Without: [][]string{{"status"}}},
					Old: text(t, live), New: text(t, next), Create: step == 0, Time: now,
				}
				ref := main
				if step > 0 && r.IntN(3) == 0 {
					w.Subresource, ref = "status", sub
					w.Filter = managed.Filter{Without: [][]string{{"spec"}, {"metadata", "labels"}}}
				}
				got := w.Update(live.GetManagedFields())
				values, ok := w.UpdateValues(live, next, live.GetManagedFields())
				if g, v := timeless(t, got), timeless(t, values); g != v || !ok {
					t.Fatalf("%s, round %d, step %d by %s: from structs\n%sfrom text\n%s", k.gvk.Kind, round, step, manager, v, g)
				}
				want, err := ref.Update(live, next.DeepCopyObject(), manager)
				if err != nil {
					t.Fatal(err)
				}
				wanted := want.(object).GetManagedFields()
				if g, w := timeless(t, got), timeless(t, wanted); g != w && round%10 != 0 {
					t.Fatalf("%s, round %d, step %d by %s\nfrom %s\nto   %s\nbefore:\n%sgot:\n%swant:\n%s", k.gvk.Kind, round, step, manager, text(t, live), text(t, next), timeless(t, live.GetManagedFields()), g, w)
				} else if round%10 == 0 && len(got) != len(wanted) {
					t.Fatalf("%d entries, want %d", len(got), len(wanted))
				}
				live = next
				live.SetManagedFields(got)
			}
		}
	}
}

// BenchmarkCreate measures the managed fields of a new pod.
func BenchmarkCreate(b *testing.B) {
	k := kind(kinds[0])
	obj := k.empty()
	old, _ := json.Marshal(obj)
	json.Unmarshal([]byte(k.variants[0]), obj)
	text, _ := json.Marshal(obj)
	w := managed.Write{Manager: "m", APIVersion: "v1", Shape: openapi.ShapeOf(reflect.TypeFor[corev1.Pod]()), Old: old, New: text, Create: true, Time: time.Now()}
	b.ReportAllocs()
	for b.Loop() {
		if len(w.Update(nil)) != 1 {
			b.Fatal("not recorded")
		}
	}
}
