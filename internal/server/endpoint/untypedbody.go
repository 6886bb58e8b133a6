package endpoint

import (
	stdjson "encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"

	"fairlead.dev/internal/codec"
	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/serializer"
)

// untypedPatches are the patches that custom objects take beside CBOR apply: a strategic
// merge patch needs a Go type, whose tags tell how each list merges.
var untypedPatches = []string{string(types.JSONPatchType), string(types.MergePatchType), string(types.ApplyYAMLPatchType)}

// DecodeBody drops fields that the kind's schema has no place for. The directive decides
// whether they are an error, warnings, or neither.
func (k untypedKind) DecodeBody(body []byte, m serializer.MediaType, directive string) (resource.Object, []string, error) {
	if m == serializer.Protobuf { // custom objects have no protobuf form
		return nil, nil, serializer.Unrecognized(k.ep.ServedGVK, body, fmt.Errorf("%s objects have no protobuf form", k.ep.Kind))
	}
	u, gvk, strict, err := k.decode(body, m, directive != metav1.FieldValidationIgnore)
	if err != nil {
		if gvk != nil && gvk.Kind != "" {
			return nil, nil, serializer.CannotHandle(*gvk, k.ep.ServedGVK, err)
		}
		return nil, nil, serializer.Unrecognized(k.ep.ServedGVK, body, err)
	}
	var warnings []string
	if len(strict) > 0 {
		if directive == metav1.FieldValidationStrict {
			return nil, nil, serializer.CannotHandle(*gvk, k.ep.ServedGVK, runtime.NewStrictDecodingError(strict))
		}
		warnings = serializer.StrictWarnings(strict)
	}
	if gvk.GroupVersion() != k.ep.ServedGVK.GroupVersion() {
		return nil, warnings, serializer.VersionMismatch(gvk.GroupVersion(), k.ep.ServedGVK.GroupVersion())
	}
	return u, warnings, nil
}

// decode decodes an object and prunes it by the schema. strict holds the strict decoding
// errors.
func (k untypedKind) decode(body []byte, m serializer.MediaType, strictly bool) (_ *resource.Untyped, gvk *schema.GroupVersionKind, strict []error, err error) {
	if u := k.decodePlain(body, m); u != nil {
		return u, &k.ep.ServedGVK, nil, nil
	}
	var s runtime.Decoder = json.NewSerializerWithOptions(json.DefaultMetaFactory, unstructuredScheme{}, unstructuredScheme{}, json.SerializerOptions{Yaml: m == serializer.YAML, Strict: strictly})
	if m == serializer.CBOR {
		s = cbor.NewSerializer(unstructuredScheme{}, unstructuredScheme{}, cbor.Strict(strictly))
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(k.ep.ServedGVK)
	_, gvk, err = s.Decode(body, &k.ep.ServedGVK, u)
	if fault, ok := runtime.AsStrictDecodingError(err); ok {
		strict, err = fault.Errors(), nil
	}
	if err != nil {
		return nil, gvk, nil, err
	}
	dropped, err := k.custom.Coerce(u, strictly)
	if err != nil {
		return nil, gvk, nil, err
	}
	for _, path := range dropped {
		strict = append(strict, fmt.Errorf("unknown field %q", path))
	}
	return resource.NewUntyped(u), gvk, strict, nil
}

// decodePlain is the fast path of decode, for JSON of the kind that the schema leaves as it
// is. It returns nil for all else.
func (k untypedKind) decodePlain(body []byte, m serializer.MediaType) *resource.Untyped {
	if m != serializer.JSON {
		return nil
	}
	object, ok := codec.UnmarshalUntypedStrict(body)
	if !ok {
		return nil
	}
	u := &unstructured.Unstructured{Object: object}
	if kind, _ := object["kind"].(string); kind != k.ep.Kind || u.GetAPIVersion() != k.ep.ServedGVK.GroupVersion().String() || !k.custom.IsCoerced(u) {
		return nil
	}
	return &resource.Untyped{Unstructured: *u}
}

func (k untypedKind) DecodePatched(p *PatchedText) (resource.Object, []string, error) {
	u, _, strict, err := k.decode(p.JSON, serializer.JSON, p.Directive != metav1.FieldValidationIgnore)
	if err != nil {
		return nil, nil, invalidPatch(p.Result, err)
	}
	strict = union(p.Objections, strict)
	if len(strict) > 0 && p.Directive == metav1.FieldValidationStrict {
		var v any
		if kjson.UnmarshalCaseSensitivePreserveInts(p.JSON, &v) == nil {
			p.JSON, _ = stdjson.Marshal(v) // the error shows it, with its members in order
		}
	}
	warnings, err := p.object(strict)
	if err != nil {
		return nil, nil, err
	}
	return u, warnings, nil
}

// unstructuredScheme makes and names objects without Go types.
type unstructuredScheme struct{}

func (unstructuredScheme) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	return untypedKind{}.newVersion(gvk)
}

func (unstructuredScheme) ObjectKinds(obj runtime.Object) ([]schema.GroupVersionKind, bool, error) {
	return []schema.GroupVersionKind{obj.GetObjectKind().GroupVersionKind()}, false, nil
}

func (unstructuredScheme) Recognizes(schema.GroupVersionKind) bool { return true }
