package managed_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/server/managed"
	"fairlead.dev/internal/server/openapi"
)

// part returns a configuration with some of another's fields.
func part(r *rand.Rand, v any, keep int) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			x := v[k]
			if r.IntN(10) < keep || k == "name" || k == "key" || k == "type" || k == "uid" || k == "ip" || k == "port" || k == "containerPort" || k == "protocol" || k == "topologyKey" || k == "whenUnsatisfiable" || k == "mountPath" {
				out[k] = part(r, x, keep)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, x := range v {
			if r.IntN(10) < keep {
				out = append(out, part(r, x, keep))
			}
		}
		return out
	}
	return v
}

// TestUnburdenChangesNothing checks that a merge that skips pruning yields the same object and the same managed
// fields.
func TestUnburdenChangesNothing(t *testing.T) {
	spared := 0
	for _, x := range kinds {
		k := kind(x)
		fm := reference(t, k.gvk, "", nil)
		shape := openapi.ShapeOf(reflect.TypeOf(k.empty()).Elem())
		r := rand.New(rand.NewPCG(3, 5))
		for round := range 40 {
			live := k.random(t, r)
			configs := map[string]any{}
			for step := range 6 {
				manager := fmt.Sprint("m", r.IntN(2))
				var whole any
				json.Unmarshal([]byte(k.variants[r.IntN(2)]), &whole)
				keep := 5 + 5*r.IntN(2)
				config := part(r, whole, keep).(map[string]any)
				if last := configs[manager]; last != nil && r.IntN(2) == 0 {
					config = last.(map[string]any) // the same configuration again
				}
				configs[manager] = config
				config["apiVersion"], config["kind"] = k.gvk.ToAPIVersionAndKind()
				text, _ := json.Marshal(config)

				lighter := live.DeepCopyObject().(object)
				lighter.SetManagedFields(managed.SkipPruning(live.GetManagedFields(), metav1.ManagedFieldsEntry{Manager: manager, APIVersion: k.gvk.GroupVersion().String()}, text, shape))
				if !reflect.DeepEqual(lighter.GetManagedFields(), live.GetManagedFields()) {
					spared++
				}
				want, err := fm.Apply(live, &unstructured.Unstructured{Object: runtime.DeepCopyJSON(numbers(config).(map[string]any))}, manager, true)
				got, err2 := fm.Apply(lighter, &unstructured.Unstructured{Object: runtime.DeepCopyJSON(numbers(config).(map[string]any))}, manager, true)
				if (err == nil) != (err2 == nil) {
					t.Fatalf("%v; lighter: %v", err, err2)
				}
				if err != nil {
					continue // the random object cannot be merged
				}
				w, g := k.typed(t, want), k.typed(t, got)
				if a, b := string(content(t, w))+timeless(t, w.GetManagedFields()), string(content(t, g))+timeless(t, g.GetManagedFields()); a != b {
					t.Fatalf("%s, round %d, step %d: %s applies %s\nlive %s\n%s\ngot:\n%s\nwant:\n%s", k.gvk.Kind, round, step, manager, text, content(t, live), timeless(t, live.GetManagedFields()), b, a)
				}
				live = w
			}
		}
	}
	if spared < 50 {
		t.Errorf("only %d merges were spared anything", spared)
	}
}

func content(t *testing.T, o object) []byte { return text(t, o) }

// numbers turns whole numbers into the integers that the API's decoders return.
func numbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case float64:
		return int64(v)
	}
	return v
}

func (k kind) typed(t *testing.T, obj runtime.Object) object {
	t.Helper()
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return obj.(object)
	}
	out := k.empty()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, out); err != nil {
		t.Fatal(err)
	}
	return out
}
