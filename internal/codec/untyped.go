package codec

import (
	"encoding/json"

	kjson "sigs.k8s.io/json"

	"fairlead.dev/internal/codec/fastjson"
	"fairlead.dev/internal/purego"
)

// MarshalUntyped returns the JSON of an object without a Go type, byte for byte as encoding/json writes it.
func MarshalUntyped(content map[string]any) ([]byte, error) {
	if !purego.Enabled {
		if text, ok := fastjson.MarshalObject(content); ok {
			return text, nil
		}
	}
	return json.Marshal(content)
}

// UnmarshalUntyped decodes a JSON object from any source into maps, slices, strings, booleans, nil, int64 and float64.
// Of duplicate members the last counts.
func UnmarshalUntyped(text []byte) (map[string]any, error) {
	content, ok := UnmarshalUntypedStrict(text)
	if ok {
		return content, nil
	}
	content = nil
	return content, kjson.UnmarshalCaseSensitivePreserveInts(text, &content)
}

// UnmarshalUntypedStrict is UnmarshalUntyped that returns false for duplicate members, for malformed text, and for
// text that the fast codec does not support.
func UnmarshalUntypedStrict(text []byte) (content map[string]any, ok bool) {
	if !purego.Enabled {
		return fastjson.Object(text)
	}
	objections, err := kjson.UnmarshalStrict(text, &content)
	return content, err == nil && len(objections) == 0 && content != nil
}
