package expr

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apiserver/pkg/cel/mutation"
	"k8s.io/apiserver/pkg/cel/mutation/dynamic"
)

// The types of mutations: an apply configuration, and the operations of a JSON patch.
var (
	Object  = types.NewObjectType("Object")
	Patches = cel.ListType(types.NewObjectType("JSONPatch"))
)

// Configuration returns the value of an expression of type [Object].
func Configuration(v ref.Val) (map[string]any, error) {
	o, ok := v.(*dynamic.ObjectVal)
	if !ok {
		return nil, fmt.Errorf("unsupported return type from ApplyConfiguration expression: %v", v.Type())
	}
	if err := o.CheckTypeNamesMatchFieldPathNames(); err != nil {
		return nil, fmt.Errorf("type mismatch: %w", err)
	}
	m, ok := o.Value().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("invalid return type: %T", v)
	}
	return m, nil
}

// operation is an operation of a JSON patch.
type operation struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	From  string          `json:"from,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
}

// Patch returns the value of an expression of type [Patches] as the text of a JSON patch.
func Patch(v ref.Val) ([]byte, error) {
	list, ok := v.(traits.Lister)
	if !ok {
		return nil, fmt.Errorf("type mismatch: JSONPatchType.expression should evaluate to array")
	}
	ops := []operation{}
	for it := list.Iterator(); it.HasNext() == types.True; {
		native, err := it.Next().ConvertToNative(reflect.TypeFor[*mutation.JSONPatchVal]())
		if err != nil {
			return nil, fmt.Errorf("type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch: %w", err)
		}
		p := native.(*mutation.JSONPatchVal)
		op := operation{Op: p.Op, Path: p.Path, From: p.From}
		if p.Val != nil {
			if op.Value, err = jsonOf(p.Val); err != nil {
				return nil, err
			}
		}
		ops = append(ops, op)
	}
	return json.Marshal(ops)
}

func jsonOf(v ref.Val) ([]byte, error) {
	if o, ok := v.(*dynamic.ObjectVal); ok {
		if err := o.CheckTypeNamesMatchFieldPathNames(); err != nil {
			return nil, fmt.Errorf("type mismatch: %w", err)
		}
	}
	native, err := v.ConvertToNative(reflect.TypeFor[*structpb.Value]())
	if err == nil {
		var text []byte
		if text, err = json.Marshal(native); err == nil {
			return text, nil
		}
	}
	return nil, fmt.Errorf("JSONPath valueExpression evaluated to a type that could not marshal to JSON: %w", err)
}

// IsTrue reports whether a value is true.
func IsTrue(v ref.Val) bool { return v == types.True }

// Text returns a string value, "" for other values.
func Text(v ref.Val) string {
	if v == nil {
		return ""
	}
	s, _ := v.Value().(string)
	return s
}
