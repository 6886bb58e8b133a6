package patch_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/server/patch"
)

// model is RFC 7386's algorithm, literally.
func model(doc, change any) any {
	c, ok := change.(map[string]any)
	if !ok {
		return change
	}
	d, ok := doc.(map[string]any)
	if !ok {
		d = map[string]any{}
	}
	for k, v := range c {
		if v == nil {
			delete(d, k)
		} else {
			d[k] = model(d[k], v)
		}
	}
	return d
}

var names = []string{"a", "b", "c d", "quo\"te", "ü", "<&>"}

// random returns a random value at most depth levels deep.
func random(r *rand.Rand, depth int) any {
	switch n := r.IntN(8); {
	case n == 0:
		return nil
	case n == 1:
		return strings.Repeat("{\"[x]\\", r.IntN(3))
	case n == 2:
		return float64(r.IntN(100)) / 4
	case n == 3:
		return r.IntN(2) == 0
	case n == 4 && depth > 0:
		list := []any{}
		for range r.IntN(3) {
			list = append(list, random(r, depth-1))
		}
		return list
	case depth == 0:
		return "leaf"
	}
	return object(r, depth-1)
}

func object(r *rand.Rand, depth int) map[string]any {
	m := map[string]any{}
	for range r.IntN(5) {
		m[names[r.IntN(len(names))]] = random(r, depth)
	}
	return m
}

func TestMergeIsTheModel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 5000 {
		doc, _ := json.Marshal(object(r, 3))
		change, _ := json.MarshalIndent(object(r, 3), "", "  ")
		res, err := patch.Patch{Type: types.MergePatchType, Body: change}.Apply(t.Context(), doc, nil)
		if err != nil {
			t.Fatal(err)
		}
		var d, c, got any
		json.Unmarshal(doc, &d)
		json.Unmarshal(change, &c)
		if err := json.Unmarshal(res.JSON, &got); err != nil {
			t.Fatalf("%d: %s + %s = %s: %v", i, doc, change, res.JSON, err)
		}
		if want := model(d, c); !reflect.DeepEqual(got, want) {
			t.Fatalf("%d: %s + %s = %s", i, doc, change, res.JSON)
		}
	}
}

func TestMergeKeepsOrder(t *testing.T) {
	res, err := patch.Patch{Type: types.MergePatchType, Body: []byte(`{"b":{"y":null,"z":2},"d":{"n":null},"a":1,"a":3}`)}.
		Apply(t.Context(), []byte(`{"c":1.0,"b":{"x":[1, 2],"y":5},"a":2}`), nil)
	if want := `{"c":1.0,"b":{"x":[1, 2],"z":2},"a":3,"d":{}}`; err != nil || string(res.JSON) != want {
		t.Errorf("%s %v, want %s", res.JSON, err, want)
	}
}

func TestStrategicMergesByKey(t *testing.T) {
	doc := `{"spec":{"containers":[{"name":"a","image":"1"},{"name":"b","image":"2"}]},"metadata":{"finalizers":["x"]}}`
	for change, want := range map[string]string{
		`{"spec":{"containers":[{"name":"b","image":"3"}]}}`:             `[{"image":"1","name":"a"},{"image":"3","name":"b"}]`,
		`{"spec":{"containers":[{"name":"a","$patch":"delete"}]}}`:       `[{"image":"2","name":"b"}]`,
		`{"spec":{"containers":[{"name":"n"}]}}`:                         `[{"name":"n"},{"image":"1","name":"a"},{"image":"2","name":"b"}]`,
		`{"spec":{"containers":[{"$patch":"replace"},{"name":"only"}]}}`: `[{"name":"only"}]`,
	} {
		res, err := patch.Patch{Type: types.StrategicMergePatchType, Body: []byte(change), Strict: true}.Apply(t.Context(), []byte(doc), &corev1.Pod{})
		if err != nil || !strings.Contains(string(res.JSON), want) {
			t.Errorf("%s: %s %v, want %s", change, res.JSON, err, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, x := range []struct {
		kind types.PatchType
		body string
		code int32
	}{
		{types.MergePatchType, `[]`, 400},
		{types.MergePatchType, `{"a":}`, 400},
		{types.MergePatchType, ``, 400},
		{types.MergePatchType, `null`, 400},
		{types.JSONPatchType, `{}`, 400},
		{types.JSONPatchType, `[{"op":"remove","path":"/none"}]`, 422},
		{types.JSONPatchType, `[{"op":"test","path":"/a","value":2}]`, 422},
		{types.JSONPatchType, "[" + strings.TrimSuffix(strings.Repeat(`{"op":"test","path":"/a","value":1},`, 10001), ",") + "]", 413},
		{types.StrategicMergePatchType, `[]`, 400},
	} {
		for _, strict := range []bool{false, true} {
			p := patch.Patch{Type: x.kind, Body: []byte(x.body), Strict: strict}
			err := p.Check()
			if err == nil {
				_, err = p.Apply(t.Context(), []byte(`{"a":1}`), &corev1.Pod{})
			}
			s, ok := err.(apierrors.APIStatus)
			if !ok || s.Status().Code != x.code {
				t.Errorf("%s %.40s strict=%v: %v", x.kind, x.body, strict, err)
			}
		}
	}
}

func TestObjections(t *testing.T) {
	for kind, body := range map[types.PatchType]string{
		types.MergePatchType:          `{"a":1,"a":2}`,
		types.StrategicMergePatchType: `{"a":1,"a":2}`,
		types.JSONPatchType:           `[{"op":"add","op":"add","path":"/b","value":1}]`,
	} {
		res, err := patch.Patch{Type: kind, Body: []byte(body), Strict: true}.Apply(t.Context(), []byte(`{"a":1}`), &corev1.Pod{})
		if err != nil || len(res.Objections) != 1 || !strings.Contains(fmt.Sprint(res.Objections[0]), "duplicate field") {
			t.Errorf("%s: %v %v", kind, res.Objections, err)
		}
	}
}

func FuzzMerge(f *testing.F) {
	f.Add(`{"a":{"b":1}}`, `{"a":{"b":null}}`)
	f.Fuzz(func(t *testing.T, doc, change string) {
		var d map[string]any
		if json.Unmarshal([]byte(doc), &d) != nil || d == nil {
			return
		}
		res, err := patch.Patch{Type: types.MergePatchType, Body: []byte(change)}.Apply(t.Context(), []byte(doc), nil)
		if err == nil && !json.Valid(res.JSON) {
			t.Errorf("%s + %s = %s", doc, change, res.JSON)
		}
	})
}
