package serializer

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"fairlead.dev/internal/codec"
	"fairlead.dev/internal/resource"
)

// DecodeStored decodes the JSON of a stored object into a new one. unknown reports whether the
// text has fields that the Go type lacks.
func DecodeStored(text []byte, into runtime.Object) (unknown bool, err error) {
	if isUntyped(into) {
		return false, kjson.UnmarshalCaseSensitivePreserveInts(text, into)
	}
	objections, err := codec.UnmarshalStrict(text, into)
	return len(objections) > 0, err
}

// DecodeText decodes a client's JSON into a new object. With strict it also returns the strict
// decoding errors: unknown and duplicate fields.
func DecodeText(text []byte, into runtime.Object, strict bool) (objections []error, err error) {
	switch {
	case isUntyped(into) && strict:
		return kjson.UnmarshalStrict(text, into)
	case isUntyped(into):
		return nil, kjson.UnmarshalCaseSensitivePreserveInts(text, into)
	}
	if err := CheckNumbers(text, into); err != nil {
		return nil, err
	}
	if strict {
		return codec.UnmarshalStrict(text, into)
	}
	return nil, codec.UnmarshalJSON(text, into)
}

// encodeJSON returns the object's JSON text.
func encodeJSON(obj runtime.Object) ([]byte, error) {
	data, _, err := encodeExact(obj)
	return data, err
}

// encodeExact is encodeJSON, and reports whether decoding the JSON is known to yield an equal object.
func encodeExact(obj runtime.Object) (data []byte, exact bool, err error) {
	switch obj := obj.(type) {
	case *resource.Untyped:
		data, err = obj.MarshalJSON()
	case *unstructured.Unstructured:
		data, err = json.Marshal(obj)
	default:
		return codec.MarshalExact(obj)
	}
	return data, false, err
}

// isUntyped reports whether the object has no Go type.
func isUntyped(obj runtime.Object) bool {
	switch obj.(type) {
	case *unstructured.Unstructured, *resource.Untyped:
		return true
	}
	return false
}
