package server

import (
	"encoding/json"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"fairlead.dev/internal/fastjson"
	"fairlead.dev/internal/resource"
)

// decodeStored decodes the text of a stored object into a new one. foreign says that
// there may be more in it than the type knows.
func decodeStored(text []byte, into runtime.Object) (foreign bool, err error) {
	if !hasPlan(into) {
		return false, kjson.UnmarshalCaseSensitivePreserveInts(text, into)
	}
	if fastjson.UnmarshalStrict(text, into) {
		return false, nil
	}
	reflect.ValueOf(into).Elem().SetZero()
	return true, kjson.UnmarshalCaseSensitivePreserveInts(text, into)
}

// decodeText decodes a client's text into a new object. With strict it also says
// what the strict rules object to.
func decodeText(text []byte, into runtime.Object, strict bool) (objections []error, err error) {
	if hasPlan(into) {
		if err := checkNumbers(text, into); err != nil {
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

// encodeJSON is the object's JSON.
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

// hasPlan says that the object is of a Go type of its own.
func hasPlan(obj runtime.Object) bool {
	switch obj.(type) {
	case *unstructured.Unstructured, *resource.Untyped:
		return false
	}
	return true
}
