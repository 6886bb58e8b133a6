package patch_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	kjson "sigs.k8s.io/json"

	"fairlead.dev/internal/server/patch"
)

// strategicKinds has an object for each feature of strategic patches: replaced maps, lists by key and by value,
// retained keys.
var strategicKinds = []struct {
	ref  any
	text string
}{
	{&corev1.Pod{}, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a<b","labels":{"a":"1","b":"2"},"annotations":{"x":"y"},"finalizers":["f","g"],"ownerReferences":[{"uid":"1","name":"n"},{"uid":"2","name":"m"}],"creationTimestamp":null},` +
		`"spec":{"containers":[{"name":"a","image":"i","env":[{"name":"E","value":"1"},{"name":"F"}],"ports":[{"containerPort":80},{"containerPort":81}]},{"name":"b","command":["c","d"]}],"volumes":[{"name":"v","emptyDir":{"medium":"Memory"}}],"nodeSelector":{"k":"v"},"securityContext":{"runAsUser":5},"tolerations":[{"key":"t"}],"activeDeadlineSeconds":5},` +
		`"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"},{"type":"X","status":"False"}],"podIPs":[{"ip":"1.1.1.1"}]}}`},
	{&appsv1.Deployment{}, `{"metadata":{"name":"d"},"spec":{"replicas":3,"selector":{"matchLabels":{"a":"b"}},"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"i"}],"volumes":[{"name":"v","emptyDir":{}},{"name":"w","secret":{"secretName":"s"}}]}}}}`},
	{&policyv1.PodDisruptionBudget{}, `{"metadata":{"name":"p"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"a":"b","c":"d"},"matchExpressions":[{"key":"k","operator":"Exists"}]}},"status":{"disruptedPods":{"x":null},"conditions":[{"type":"T"}]}}`},
	{&corev1.Service{}, `{"metadata":{"name":"s"},"spec":{"ports":[{"port":80,"name":"a"},{"port":81,"name":"b"}],"selector":{"a":"b"},"clusterIPs":["10.0.0.1"]}}`},
}

// changed returns a random patch of the value, using all directives.
func changed(r *rand.Rand, v any, depth int) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if depth > 0 && r.IntN(3) > 0 {
				continue
			}
			switch n := r.IntN(12); {
			case n == 0:
				out[k] = nil
			case n == 1:
				out[k] = map[string]any{"new": "x", "gone": nil}
			case n == 2:
				out[k] = []any{"x"}
			case n == 3:
				out["$setElementOrder/"+k] = order(r, v[k])
			case n == 4:
				out["$deleteFromPrimitiveList/"+k] = v[k]
			case n == 5:
				out["$setElementOrder/"+k] = order(r, v[k])
				out[k] = changed(r, v[k], depth+1)
			default:
				out[k] = changed(r, v[k], depth+1)
			}
		}
		switch r.IntN(25) {
		case 0:
			out["$patch"] = []any{"replace", "delete", "merge", nil}[r.IntN(4)]
		case 1:
			out["$retainKeys"] = []any{"type", "name", "labels"}
		case 2:
			out["other"] = map[string]any{"a": nil, "b": 1.5, "<c>": []any{nil}}
		}
		return out
	case []any:
		out := []any{}
		for _, x := range v {
			switch r.IntN(4) {
			case 0:
			case 1:
				if m, ok := x.(map[string]any); ok && r.IntN(2) == 0 {
					gone := map[string]any{"$patch": "delete"}
					for _, k := range []string{"name", "type", "uid", "containerPort", "port", "ip", "key"} {
						if m[k] != nil {
							gone[k] = m[k]
						}
					}
					x = gone
				}
				out = append(out, x)
			default:
				c := changed(r, x, depth+1)
				if m, ok := c.(map[string]any); ok && r.IntN(8) > 0 {
					for _, k := range []string{"name", "type", "uid", "containerPort", "port", "ip", "key"} {
						if was := x.(map[string]any)[k]; was != nil {
							m[k] = was
						}
					}
				}
				out = append(out, c)
			}
		}
		return out
	case string:
		return v + "'"
	}
	return v
}

// order returns the items of a list in the order that the patch asks for.
func order(r *rand.Rand, v any) any {
	list, ok := v.([]any)
	if !ok || r.IntN(10) == 0 {
		return v
	}
	list = slices.Clone(list)
	if r.IntN(2) == 0 {
		slices.Reverse(list)
	}
	return list
}

// safely turns a panic into an error: apimachinery panics on some odd patches.
func safely[T any](f func() (T, error)) (v T, err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("%v", x)
		}
	}()
	return f()
}

// TestStrategicIsTheReference checks that a random patch has the same result as apimachinery's patch of the whole
// object, or that both refuse it.
func TestStrategicIsTheReference(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	applied, refused := 0, 0
	for i := range 6000 {
		k := strategicKinds[i%len(strategicKinds)]
		var now map[string]any
		if err := kjson.UnmarshalCaseSensitivePreserveInts([]byte(k.text), &now); err != nil {
			t.Fatal(err)
		}
		body, _ := json.Marshal(changed(r, now, r.IntN(2)))
		var change map[string]any
		if err := kjson.UnmarshalCaseSensitivePreserveInts(body, &change); err != nil {
			t.Fatal(err)
		}
		merged, wrong := safely(func() (strategicpatch.JSONMap, error) {
			return strategicpatch.StrategicMergeMapPatch(now, change, k.ref)
		})
		res, err := safely(func() (*patch.Result, error) {
			return patch.Patch{Type: types.StrategicMergePatchType, Body: body}.Apply(t.Context(), []byte(k.text), k.ref)
		})
		if wrong != nil || err != nil {
			// If a patch has several faults, the error names one of them, depending on the order of a map.
			if wrong == nil || err == nil {
				t.Fatalf("%s: %v, want %v", body, err, wrong)
			}
			refused++
			continue
		}
		applied++
		text, _ := json.Marshal(merged)
		var got, want any
		json.Unmarshal(text, &want)
		if err := json.Unmarshal(res.JSON, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\nto %s: %v\ngot  %s\nwant %s", body, k.text, err, res.JSON, text)
		}
	}
	t.Logf("%d applied, %d refused", applied, refused)
	if applied < 600 || refused < 600 {
		t.Errorf("%d applied, %d refused", applied, refused)
	}
}
