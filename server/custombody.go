package server

import (
	stdjson "encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"

	"fairlead.dev/internal/fastjson"
	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/codec"
	"fairlead.dev/internal/server/patch"
)

// customPatches are the patches that custom objects take: without a Go type, no
// list says how it merges strategically.
var customPatches = []string{string(types.JSONPatchType), string(types.MergePatchType), string(types.ApplyYAMLPatchType)}

// customPatches are those that the call may be.
func (c *call) customPatches() []string {
	if c.s.cfg.CBOR {
		return append(slices.Clone(customPatches), string(types.ApplyCBORPatchType))
	}
	return customPatches
}

// decodeCustomBody makes a custom object of the call's body. What the kind's
// schema has no place for is dropped, and said or refused as the directive wants.
func (c *call) decodeCustomBody(body []byte, m codec.MediaType, directive string) (resource.Object, error) {
	if m == codec.Protobuf { // nothing can be in it that would be one of these objects
		return nil, codec.Unrecognized(c.ep.gvk, body, fmt.Errorf("%s objects have no protobuf form", c.ep.Kind))
	}
	u, gvk, strict, err := c.decodeUntyped(body, m, directive != metav1.FieldValidationIgnore)
	if err != nil {
		if gvk != nil && gvk.Kind != "" {
			return nil, codec.CannotHandle(*gvk, c.ep.gvk, err)
		}
		return nil, codec.Unrecognized(c.ep.gvk, body, err)
	}
	if len(strict) > 0 {
		if directive == metav1.FieldValidationStrict {
			return nil, codec.CannotHandle(*gvk, c.ep.gvk, runtime.NewStrictDecodingError(strict))
		}
		c.warn(codec.StrictWarnings(strict)...)
	}
	if gvk.GroupVersion() != c.ep.gvk.GroupVersion() {
		return nil, codec.VersionMismatch(gvk.GroupVersion(), c.ep.gvk.GroupVersion())
	}
	return u, nil
}

// decodeUntyped decodes and coerces an object. strict is what strict decoding
// objects to.
func (c *call) decodeUntyped(body []byte, m codec.MediaType, strictly bool) (_ *resource.Untyped, gvk *schema.GroupVersionKind, strict []error, err error) {
	if u := c.decodePlain(body, m); u != nil {
		return u, &c.ep.gvk, nil, nil
	}
	var s runtime.Decoder = json.NewSerializerWithOptions(json.DefaultMetaFactory, untyped{}, untyped{}, json.SerializerOptions{Yaml: m == codec.YAML, Strict: strictly})
	if m == codec.CBOR {
		s = cbor.NewSerializer(untyped{}, untyped{}, cbor.Strict(strictly))
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(c.ep.gvk)
	_, gvk, err = s.Decode(body, &c.ep.gvk, u)
	if fault, ok := runtime.AsStrictDecodingError(err); ok {
		strict, err = fault.Errors(), nil
	}
	if err != nil {
		return nil, gvk, nil, err
	}
	dropped, err := c.ep.Custom.Coerce(u, strictly)
	if err != nil {
		return nil, gvk, nil, err
	}
	for _, path := range dropped {
		strict = append(strict, fmt.Errorf("unknown field %q", path))
	}
	return resource.NewUntyped(u), gvk, strict, nil
}

// decodePlain is decodeUntyped for most bodies: JSON of the kind that nothing is wrong
// with. It is nil for others.
func (c *call) decodePlain(body []byte, m codec.MediaType) *resource.Untyped {
	if m != codec.JSON {
		return nil
	}
	object, ok := fastjson.Object(body)
	if !ok {
		return nil
	}
	u := &unstructured.Unstructured{Object: object}
	if kind, _ := object["kind"].(string); kind != c.ep.Kind || u.GetAPIVersion() != c.ep.gvk.GroupVersion().String() || !c.ep.Custom.Fits(u) {
		return nil
	}
	return &resource.Untyped{Unstructured: *u}
}

// decodePatched makes a custom object of a patched text.
func (c *call) decodePatched(r *patch.Result, directive string) (runtime.Object, error) {
	u, _, strict, err := c.decodeUntyped(r.JSON, codec.JSON, directive != metav1.FieldValidationIgnore)
	if err != nil {
		return nil, invalidPatch(r, err)
	}
	strict = more(r.Objections, strict)
	if len(strict) > 0 && directive == metav1.FieldValidationStrict {
		var v any
		if kjson.UnmarshalCaseSensitivePreserveInts(r.JSON, &v) == nil {
			r.JSON, _ = stdjson.Marshal(v) // it is about to be shown, with its members in order
		}
	}
	switch {
	case len(strict) == 0:
	case directive == metav1.FieldValidationStrict:
		return nil, invalidPatch(r, runtime.NewStrictDecodingError(strict))
	default:
		c.warn(codec.StrictWarnings(strict)...)
	}
	return u, nil
}

// untyped makes and names objects without Go types.
type untyped struct{}

func (untyped) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	return u, nil
}

func (untyped) ObjectKinds(obj runtime.Object) ([]schema.GroupVersionKind, bool, error) {
	return []schema.GroupVersionKind{obj.GetObjectKind().GroupVersionKind()}, false, nil
}

func (untyped) Recognizes(schema.GroupVersionKind) bool { return true }
