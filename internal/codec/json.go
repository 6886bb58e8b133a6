package codec

import (
	"encoding/json"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	"fairlead.dev/internal/codec/fastjson"
	"fairlead.dev/internal/purego"
)

// MarshalJSON returns the JSON of the Go object that v points to, byte for byte as encoding/json writes it.
func MarshalJSON(v any) ([]byte, error) {
	text, _, err := MarshalExact(v)
	return text, err
}

// MarshalExact is [MarshalJSON], and reports whether decoding the JSON is known to yield an equal object.
func MarshalExact(v any) (text []byte, exact bool, err error) {
	if !purego.Enabled {
		if text, exact, ok := fastjson.Marshal(v); ok {
			return text, exact, nil
		}
	}
	text, err = json.Marshal(v)
	return text, false, err
}

// UnmarshalJSON decodes JSON from any source into the new object that into points to. Unknown fields are dropped, and
// of duplicate ones the last counts.
func UnmarshalJSON(text []byte, into any) error {
	if !purego.Enabled {
		if fastjson.UnmarshalStrict(text, into) {
			return nil
		}
		reset(into)
	}
	return kjson.UnmarshalCaseSensitivePreserveInts(text, into)
}

// UnmarshalStrict is UnmarshalJSON that also returns the strict decoding errors: unknown and duplicate fields.
func UnmarshalStrict(text []byte, into any) (objections []error, err error) {
	if !purego.Enabled {
		if fastjson.UnmarshalStrict(text, into) {
			return nil, nil
		}
		reset(into)
	}
	return kjson.UnmarshalStrict(text, into)
}

// UnmarshalMembers decodes an object with some of the members of a struct, into a struct that has the others. It
// returns false if there is no fast way; into is then undefined, and the caller decodes a whole object.
func UnmarshalMembers(text []byte, into any) bool {
	return !purego.Enabled && fastjson.UnmarshalStrict(text, into)
}

// Identity identifies an object and its version.
type Identity struct{ Name, Namespace, UID, ResourceVersion string }

// IdentityOf reads the identity in the JSON of an object and ignores the rest: text must come from a correct encoder.
// It returns false if there is none, or the text is unusual; the caller then decodes the object.
func IdentityOf(text []byte) (Identity, bool) {
	if purego.Enabled {
		var obj metav1.PartialObjectMetadata
		err := kjson.UnmarshalCaseSensitivePreserveInts(text, &obj)
		return Identity{obj.Name, obj.Namespace, string(obj.UID), obj.ResourceVersion}, err == nil && obj.Name != ""
	}
	head, ok := fastjson.IdentityOf(text)
	return Identity(head), ok
}

// AppendTranscoded converts an object's JSON to the protobuf message of the Go type t, byte for byte the result of t's
// Marshal, and appends it to dst. It returns false if there is no fast way; the caller then decodes the object and encodes it.
func AppendTranscoded(dst, text []byte, t reflect.Type) (out []byte, ok bool) {
	if purego.Enabled {
		return dst, false
	}
	return fastjson.AppendTranscoded(dst, text, t)
}

// reset makes an object new again after a decoder has given up.
func reset(into any) { reflect.ValueOf(into).Elem().SetZero() }
