package serializer

import (
	"encoding/json"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"fairlead.dev/internal/codec/fastjson"
	"fairlead.dev/internal/resource"
)

// DecodeStored decodes the JSON of a stored object into a new one. unknown reports whether the
// text may have fields that the Go type lacks.
func DecodeStored(text []byte, into runtime.Object) (unknown bool, err error) {
	if !hasPlan(into) {
		return false, kjson.UnmarshalCaseSensitivePreserveInts(text, into)
	}
	if fastjson.UnmarshalStrict(text, into) {
		return false, nil
	}
	reflect.ValueOf(into).Elem().SetZero()
	return true, kjson.UnmarshalCaseSensitivePreserveInts(text, into)
}

// DecodeText decodes a client's JSON into a new object. With strict it also returns the strict
// decoding errors: unknown and duplicate fields.
func DecodeText(text []byte, into runtime.Object, strict bool) (objections []error, err error) {
	if hasPlan(into) {
		if err := CheckNumbers(text, into); err != nil {
			return nil, err
		}
		if fastjson.UnmarshalStrict(text, into) {
			return nil, nil
		}
		reflect.ValueOf(into).Elem().SetZero()
	}
	if !strict {
		return nil, kjson.UnmarshalCaseSensitivePreserveInts(text, into)
	}
	return kjson.UnmarshalStrict(text, into)
}

// encodeJSON returns the object's JSON text.
func encodeJSON(obj runtime.Object) ([]byte, error) {
	if hasPlan(obj) {
		if text, ok := fastjson.Marshal(obj); ok {
			return text, nil
		}
	}
	if u, ok := obj.(*resource.Untyped); ok {
		return u.MarshalJSON()
	}
	return json.Marshal(obj)
}

// hasPlan reports whether the object has a Go type, which fastjson encodes by a plan.
func hasPlan(obj runtime.Object) bool {
	switch obj.(type) {
	case *unstructured.Unstructured, *resource.Untyped:
		return false
	}
	return true
}
