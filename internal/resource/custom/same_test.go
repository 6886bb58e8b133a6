package custom_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/common"
	kjson "sigs.k8s.io/json"

	"fairlead.dev/internal/purego"
	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/custom"
)

// sameSchemas are schemas of a spec; together they use every keyword of a schema.
var sameSchemas = []string{
	`{"type":"object","required":["a"],"properties":{"a":{"type":"string","minLength":1,"maxLength":4,"pattern":"^[a-zé]*$"},"b":{"type":"string","enum":["x","y","zz"]},"c":{"type":"string","nullable":true,"default":"dd"}}}`,
	`{"type":"object","properties":{"n":{"type":"integer","minimum":1,"maximum":5},"m":{"type":"integer","format":"int32","minimum":-1,"exclusiveMinimum":true},"f":{"type":"number","maximum":3,"exclusiveMaximum":true},"g":{"type":"number"},"h":{"type":"integer","multipleOf":2},"i":{"type":"integer","maximum":1.5},"j":{"type":"integer","enum":[1,2]}}}`,
	`{"type":"object","default":{},"properties":{"on":{"type":"boolean","default":true},"sub":{"type":"object","default":{"k":"v"},"properties":{"k":{"type":"string"},"l":{"type":"integer","default":3}}},"deep":{"type":"object","properties":{"x":{"type":"object","properties":{"y":{"type":"string","default":"q"}}}}}}}`,
	`{"type":"object","properties":{"list":{"type":"array","minItems":1,"maxItems":3,"items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"port":{"type":"integer","default":80}}},"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"]},"set":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set"},"plain":{"type":"array","items":{"type":"integer","maximum":4}}}}`,
	`{"type":"object","minProperties":1,"maxProperties":3,"additionalProperties":{"type":"string","maxLength":2,"default":"d"}}`,
	`{"type":"object","properties":{"any":{"x-kubernetes-preserve-unknown-fields":true},"some":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"a":{"type":"string"},"b":{"type":"object","properties":{"c":{"type":"integer"}}}}},"items":{"type":"array","x-kubernetes-preserve-unknown-fields":true,"items":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}`,
	`{"type":"object","properties":{"port":{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]},"loose":{"x-kubernetes-int-or-string":true}}}`,
	`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"integer"}},"oneOf":[{"required":["a"]},{"required":["b"]}],"not":{"required":["c"],"properties":{"c":{"enum":[7]}}}}`,
	`{"type":"object","properties":{"a":{"type":"string"},"n":{"type":"integer"}},"allOf":[{"properties":{"a":{"maxLength":3}}},{"properties":{"n":{"minimum":2}}}],"anyOf":[{"properties":{"a":{"minLength":2}}},{"required":["n"]}]}`,
	`{"type":"object","properties":{"pod":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}}`,
	`{"type":"object","properties":{"t":{"type":"string","format":"date-time"},"u":{"type":"string","format":"uri"},"b":{"type":"string","format":"byte"},"o":{"type":"string","format":"other"},"i":{"type":"string","format":"ipv4"},"m":{"type":"object","additionalProperties":true}}}`,
	`{"type":"object","x-kubernetes-map-type":"atomic","properties":{"l":{"type":"array","x-kubernetes-list-type":"atomic","items":{"type":"array","items":{"type":"string","nullable":true}}},"e":{"type":"string","enum":["x",""],"nullable":true},"z":{"type":"object","nullable":true,"properties":{"y":{"type":"string"}}}}}`,
}

// sameKind is one schema, compiled by this package and by upstream.
type sameKind struct {
	row    *resource.Resource
	tree   *structural.Structural
	schema validation.SchemaValidator
}

func newSameKind(t *testing.T, specSchema string) *sameKind {
	t.Helper()
	schema := `{"type":"object","properties":{"spec":` + specSchema + `}}`
	k, err := custom.New([]byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gadgets.example.com","uid":"u"},
"spec":{"group":"example.com","scope":"Cluster","names":{"plural":"gadgets","singular":"gadget","kind":"Gadget","listKind":"GadgetList"},
"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":`+schema+`}}]},
"status":{"acceptedNames":{"plural":"gadgets","singular":"gadget","kind":"Gadget","listKind":"GadgetList"},"conditions":[{"type":"NamesAccepted","status":"True"}]}}`), custom.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var props apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal([]byte(schema), &props); err != nil {
		t.Fatal(err)
	}
	var in apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&props, &in, nil); err != nil {
		t.Fatal(err)
	}
	s := &sameKind{row: k.Resources()[0]}
	if s.tree, err = structural.NewStructural(&in); err != nil {
		t.Fatal(err)
	}
	s.tree = s.tree.DeepCopy()
	if err := defaulting.PruneDefaults(s.tree); err != nil {
		t.Fatal(err)
	}
	if s.schema, _, err = validation.NewSchemaValidator(&in); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSameAsUpstream checks that objects which the plan and the check accept are left unchanged and found valid by
// upstream's functions, and that upstream's results are returned for the others.
func TestSameAsUpstream(t *testing.T) {
	fitting, faulty, sound := 0, 0, 0
	for i, schema := range sameSchemas {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			k := newSameKind(t, schema)
			r := rand.New(rand.NewPCG(6, uint64(i)))
			for range 300 {
				old, obj := randomObject(r, k.tree), randomObject(r, k.tree)
				if r.IntN(2) == 0 { // similar to the old one
					obj = deepCopy(old)
					spec, _ := obj.Object["spec"].(map[string]any)
					for name := range spec {
						if r.IntN(2) == 0 {
							spec[name] = randomValue(r, k.tree.Properties["spec"].Properties[name], 0)
						}
					}
					obj = asDecoded(obj.Object)
				}
				if k.coercedAlike(t, obj) {
					fitting++
				}
				k.coercedAlike(t, old)
				if k.validatedAlike(t, obj, nil) || k.validatedAlike(t, obj, old) {
					faulty++
				} else {
					sound++
				}
			}
		})
	}
	if fitting < 500 && !purego.Enabled || faulty < 500 || sound < 500 {
		t.Errorf("%d objects fit, %d have faults, %d have none", fitting, faulty, sound)
	}
}

func deepCopy(u *unstructured.Unstructured) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: runtime.DeepCopyJSON(u.Object)}
}

// coercedAlike coerces and defaults the object in both ways.
func (k *sameKind) coercedAlike(t *testing.T, u *unstructured.Unstructured) (fits bool) {
	t.Helper()
	theirs, was := deepCopy(u), deepCopy(u)
	fits = k.row.Custom.IsCoerced(u)
	dropped, err := k.row.Custom.Coerce(u, true)
	want, wantErr := k.coerceUpstream(theirs)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) || !slices.Equal(dropped, want) || err == nil && !reflect.DeepEqual(u, theirs) {
		t.Errorf("%v\n got %v %v %v\nwant %v %v %v", text(was), text(u), dropped, err, text(theirs), want, wantErr)
	}
	if fits && !reflect.DeepEqual(was, u) {
		t.Errorf("%v was said to fit, and became %v", text(was), text(u))
	}
	k.row.Strategy.Default(&resource.Untyped{Unstructured: *u})
	defaulting.Default(theirs.Object, k.tree)
	if err == nil && !reflect.DeepEqual(u, theirs) {
		t.Errorf("defaults:\n got %v\nwant %v", text(u), text(theirs))
	}
	return fits
}

func (k *sameKind) coerceUpstream(u *unstructured.Unstructured) ([]string, error) {
	meta, found, dropped, err := objectmeta.GetObjectMetaWithOptions(u.Object, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return nil, err
	}
	o := structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	dropped = append(dropped, pruning.PruneWithOptions(u.Object, k.tree, true, o)...)
	defaulting.PruneNonNullableNullsWithoutDefaults(u.Object, k.tree)
	fault, more := objectmeta.CoerceWithOptions(nil, u.Object, k.tree, false, objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true})
	if fault != nil {
		return nil, fault
	}
	if found {
		err = objectmeta.SetObjectMeta(u.Object, meta)
	}
	return append(dropped, more...), err
}

// validatedAlike compares the errors of a create or, with old, of an update.
func (k *sameKind) validatedAlike(t *testing.T, obj, old *unstructured.Unstructured) (faults bool) {
	t.Helper()
	got := k.row.Custom.Validate(context.Background(), resource.Validation{Object: obj, Old: old})
	var want field.ErrorList
	lists := listtype.ValidateListSetsAndMaps(nil, k.tree, obj.Object)
	if old == nil {
		want = validation.ValidateCustomResource(nil, obj.Object, k.schema)
	} else {
		both := common.NewCorrelatedObject(obj.Object, old.Object, &model.Structural{Structural: k.tree})
		want = validation.ValidateCustomResourceUpdate(nil, obj.Object, old.Object, k.schema, validation.WithRatcheting(both))
		if len(listtype.ValidateListSetsAndMaps(nil, k.tree, old.Object)) > 0 {
			lists = nil
		}
	}
	want = append(want, objectmeta.Validate(context.Background(), nil, obj.Object, k.tree, false)...)
	want = append(want, lists...)
	if a, b := words(got), words(want); a != b {
		t.Errorf("%v after %v\n got %s\nwant %s", text(obj), text(old), a, b)
	}
	return len(want) > 0
}

func words(list field.ErrorList) string {
	var all []string
	for _, e := range list {
		all = append(all, e.Error())
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

func text(u *unstructured.Unstructured) string {
	if u == nil {
		return "nothing"
	}
	b, _ := json.Marshal(u.Object)
	return string(b)
}

func randomObject(r *rand.Rand, tree *structural.Structural) *unstructured.Unstructured {
	spec := tree.Properties["spec"]
	o := map[string]any{"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": randomMeta(r)}
	if r.IntN(12) > 0 {
		o["spec"] = randomValue(r, spec, 0)
	}
	if r.IntN(12) == 0 {
		o["more"] = "x"
	}
	return asDecoded(o)
}

// asDecoded returns the object with numbers of the types that decoding produces.
func asDecoded(o map[string]any) *unstructured.Unstructured {
	b, _ := json.Marshal(o)
	u := &unstructured.Unstructured{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(b, &u.Object); err != nil {
		panic(err)
	}
	return u
}

func randomMeta(r *rand.Rand) any {
	m := map[string]any{"name": "g"}
	odd := map[string]any{
		"labels": map[string]any{"a": "b"}, "annotations": map[string]any{}, "creationTimestamp": "2024-01-02T03:04:05Z", "uid": "u", "generation": 2,
		"finalizers": []any{"x/y"}, "ownerReferences": []any{map[string]any{"apiVersion": "v1", "kind": "K", "name": "n", "uid": "u", "controller": true}},
		"unknown": 1, "namespace": nil, "generateName": "", "deletionGracePeriodSeconds": 0,
	}
	names := slices.Sorted(maps.Keys(odd))
	for range r.IntN(3) {
		name := names[r.IntN(len(names))]
		m[name] = odd[name]
	}
	switch r.IntN(60) {
	case 0:
		m["labels"] = map[string]any{"a": 1}
	case 1:
		m["creationTimestamp"] = nil
	case 2:
		m["ownerReferences"] = []any{map[string]any{"kind": "K"}, map[string]any{}}
	case 3:
		m["creationTimestamp"] = "2024-01-02T05:04:05+02:00"
	}
	return m
}

// randomValue mostly returns a value that the schema allows.
func randomValue(r *rand.Rand, s structural.Structural, depth int) any {
	odd := []any{nil, "x", "zz", 7, 2, -1, 1.5, 4294967296, true, []any{}, map[string]any{}, map[string]any{"a": 1, "k": nil}, []any{nil, "x", "x", map[string]any{"name": "n"}}, "é", ""}
	if r.IntN(9) == 0 || depth > 6 {
		return odd[r.IntN(len(odd))]
	}
	switch s.Type {
	case "object":
		m := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if r.IntN(3) > 0 {
				m[name] = randomValue(r, s.Properties[name], depth+1)
			}
		}
		if more := s.AdditionalProperties; more != nil {
			for i := range r.IntN(4) {
				if more.Structural == nil {
					m[fmt.Sprint("k", i)] = odd[r.IntN(len(odd))]
				} else {
					m[fmt.Sprint("k", i)] = randomValue(r, *more.Structural, depth+1)
				}
			}
		}
		if s.XEmbeddedResource && r.IntN(3) > 0 {
			m["apiVersion"], m["kind"], m["metadata"] = "v1", "Pod", randomMeta(r)
		}
		if r.IntN(7) == 0 || s.XPreserveUnknownFields {
			m["beside"] = odd[r.IntN(len(odd))]
		}
		return m
	case "array":
		list := []any{}
		for range r.IntN(4) {
			list = append(list, randomValue(r, *s.Items, depth+1))
		}
		return list
	case "string":
		return []any{"x", "y", "zz", "q", "", "abc", "2024-01-02T03:04:05Z", "1.2.3.4", "http://a/b", "YWJj"}[r.IntN(10)]
	case "integer":
		return []any{1, 2, 3, 4, 5, 6, 7, 0, -1, -3}[r.IntN(10)]
	case "number":
		return []any{1, 2.5, 0.25, 3, 2.0}[r.IntN(5)]
	case "boolean":
		return r.IntN(2) == 0
	}
	return odd[r.IntN(len(odd))]
}
