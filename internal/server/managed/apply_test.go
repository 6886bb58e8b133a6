package managed_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"fairlead.dev/internal/codec/fastjson"
	"fairlead.dev/internal/server/managed"
	"fairlead.dev/internal/server/openapi"
)

// odd makes a configuration irregular: empty values, nulls, duplicates, or another order.
func odd(r *rand.Rand, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			switch r.IntN(60) {
			case 0:
				v[k] = map[string]any{}
			case 1:
				v[k] = nil
			case 2:
				v[k] = []any{}
			case 3:
				v["unknown<"] = "x"
			default:
				v[k] = odd(r, v[k])
			}
		}
	case []any:
		for i := range v {
			v[i] = odd(r, v[i])
		}
		if r.IntN(6) == 0 {
			slices.Reverse(v)
		}
		if r.IntN(20) == 0 && len(v) > 0 {
			return append(v, v[0])
		}
	}
	return v
}

// records formats the entries, noting whether each has a time. apimachinery may write a set that it has read
// differently from the first time, so all sets compared here have been read once.
func records(t *testing.T, entries []metav1.ManagedFieldsEntry) string {
	t.Helper()
	list := slices.Clone(entries)
	for i := range list {
		var set fieldpath.Set
		if err := set.FromJSON(bytes.NewReader(list[i].FieldsV1.GetRawBytes())); err != nil {
			t.Fatal(err)
		}
		text, err := set.ToJSON()
		if err != nil {
			t.Fatal(err)
		}
		list[i].FieldsV1 = &metav1.FieldsV1{}
		list[i].FieldsV1.SetRawBytes(text)
		if list[i].Time != nil {
			list[i].Manager += " (timed)"
		}
	}
	return timeless(t, list)
}

// takesAway reports whether a configuration omits fields that its manager applied before.
func takesAway(entries []metav1.ManagedFieldsEntry, manager, subresource string, config []byte, s *openapi.Shape) bool {
	for i, e := range entries {
		if e.Operation == metav1.ManagedFieldsOperationApply && e.Manager == manager && e.Subresource == subresource {
			return managed.SkipPruning(entries, e, config, s)[i].FieldsV1.Equal(*e.FieldsV1)
		}
	}
	return false
}

// TestPlainAppliesAreTheReference lets managers update and apply in turn. Where TryMerge merges a configuration,
// apimachinery must find no conflict in it and produce the same object and the same managed fields.
func TestPlainAppliesAreTheReference(t *testing.T) {
	status := fieldpath.NewSet(fieldpath.MakePathOrDie("status"))
	spec := fieldpath.NewSet(fieldpath.MakePathOrDie("spec"), fieldpath.MakePathOrDie("metadata", "labels"))
	plain, still, pruned, forced, strange := 0, 0, 0, 0, 0
	for _, x := range kinds {
		k := kind(x)
		main, sub := reference(t, k.gvk, "", status), reference(t, k.gvk, "status", spec)
		shape := openapi.ShapeOf(reflect.TypeOf(k.empty()).Elem())
		r := rand.New(rand.NewPCG(11, 13))
		for round := range 80 {
			live := k.empty()
			if round%3 > 0 {
				live = k.random(t, r)
				live.SetManagedFields(nil)
				out, err := main.Update(k.empty(), live, "maker")
				if err != nil {
					t.Fatal(err)
				}
				live = out.(object)
			}
			configs := map[string]any{}
			for step := range 8 {
				fm, without, subresource := main, [][]string{{"status"}}, ""
				if r.IntN(4) == 0 {
					fm, without, subresource = sub, [][]string{{"spec"}, {"metadata", "labels"}}, "status"
				}
				manager := fmt.Sprint("m", r.IntN(3))
				if step%4 == 3 {
					next := k.random(t, r)
					next.SetManagedFields(nil)
					out, err := fm.Update(live, next, manager)
					if err != nil {
						break // the mutated object cannot be updated
					}
					live = out.(object)
					continue
				}
				var config map[string]any
				if r.IntN(3) == 0 { // of the live object
					json.Unmarshal(content(t, live), &config)
				} else {
					json.Unmarshal([]byte(k.variants[r.IntN(2)]), &config)
				}
				config = part(r, config, 3+7*r.IntN(2)).(map[string]any)
				if r.IntN(3) == 0 {
					config = odd(r, config).(map[string]any)
				}
				if last := configs[manager+subresource]; last != nil {
					switch r.IntN(4) {
					case 0: // the same configuration again
						config = last.(map[string]any)
					case 1, 2: // most of the configuration
						config = part(r, last, 6).(map[string]any)
					}
				}
				configs[manager+subresource] = config
				config["apiVersion"], config["kind"] = k.gvk.ToAPIVersionAndKind()
				body, _ := json.Marshal(config)

				force := r.IntN(2) == 0
				a := managed.Apply{
					Manager: manager, Subresource: subresource, APIVersion: k.gvk.GroupVersion().String(), Shape: shape,
					Filter: managed.Filter{Without: without}, Live: content(t, live), Config: body, Force: force, Time: time.Now(),
				}
				merged, entries, ok := a.TryMerge(live.GetManagedFields())
				if len(live.GetManagedFields()) == 0 && (step > 0 || live.GetName() != "") {
					ok = false // beyond the contract of TryMerge
				}
				asked := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(numbers(config).(map[string]any))}
				want, err := fm.Apply(live, asked, manager, force || !ok)
				if err != nil {
					if strings.Contains(err.Error(), "failed to create typed live object") {
						break // the mutated configuration cannot be applied
					}
					if ok && fastjson.UnmarshalStrict(merged, k.empty()) && round%3 != 0 {
						t.Fatalf("%s, round %d, step %d: %v\n%s applies %s\nlive %s\n%s\nmerged %s", k.gvk.Kind, round, step, err, manager, body, content(t, live), records(t, live.GetManagedFields()), merged)
					}
					strange++
					continue
				}
				if u, loose := want.(*unstructured.Unstructured); loose && runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, k.empty()) != nil {
					strange++
					continue
				}
				w := k.typed(t, want)
				if ok {
					got := k.empty()
					if err := json.Unmarshal(merged, got); err != nil {
						t.Fatal(err)
					}
					plain++
					if takesAway(live.GetManagedFields(), manager, subresource, body, shape) {
						pruned++
					}
					if force {
						again := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(numbers(config).(map[string]any))}
						if _, err := fm.Apply(live, again, manager, false); err != nil {
							forced++
						}
					}
					if string(merged) == string(a.Live) {
						still++
					}
					got.SetManagedFields(entries)
					if a, b := string(content(t, w))+records(t, w.GetManagedFields()), string(content(t, got))+records(t, entries); a != b {
						t.Fatalf("%s, round %d, step %d: %s applies %s\nlive %s\n%s\ngot:\n%s\nwant:\n%s", k.gvk.Kind, round, step, manager, body, content(t, live), records(t, live.GetManagedFields()), b, a)
					}
				}
				live = w
			}
		}
	}
	t.Logf("%d merged, %d of them without a change, %d that take away, %d by force; %d that nobody can merge", plain, still, pruned, forced, strange)
	if plain < 500 || still < 100 || pruned < 100 || forced < 50 {
		t.Errorf("only %d configurations were merged, %d without a change, %d that take away, %d by force", plain, still, pruned, forced)
	}
}
