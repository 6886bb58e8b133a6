package resource

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/codec"
)

// A Move moves members of an object's JSON from where one version has them to where another does.
type Move func(object map[string]any)

// WithVersionOnRequest adds a version that is served only if it is asked for. Its JSON is that of the storage version, but for
// the two moves, which may be nil.
func (r *Resource) WithVersionOnRequest(v Version, toStorage, fromStorage Move) *Resource {
	hub := r.Versions[0]
	v.OnRequest = true
	v.ToStorage = converter(r.GVK(hub.Name), hub.New, toStorage)
	v.FromStorage = converter(r.GVK(v.Name), v.New, fromStorage)
	r.Versions = append(r.Versions, v)
	return r
}

// OnRequest marks a kind, whose row has one version, as not served by default.
func (r *Resource) OnRequest() *Resource {
	r.Versions[0].OnRequest = true
	return r
}

// converter returns a function that converts an object to another kind by its JSON.
func converter(to schema.GroupVersionKind, empty func() runtime.Object, move Move) func(runtime.Object) (runtime.Object, error) {
	return func(in runtime.Object) (runtime.Object, error) {
		text, err := codec.MarshalJSON(in)
		if err != nil {
			return nil, fmt.Errorf("conversion to %s: %w", to, err)
		}
		if move != nil {
			content, err := codec.UnmarshalUntyped(text)
			if err != nil {
				return nil, fmt.Errorf("conversion to %s: %w", to, err)
			}
			move(content)
			if text, err = codec.MarshalUntyped(content); err != nil {
				return nil, fmt.Errorf("conversion to %s: %w", to, err)
			}
		}
		out := empty()
		if err := codec.UnmarshalJSON(text, out); err != nil {
			return nil, fmt.Errorf("conversion to %s: %w", to, err)
		}
		out.GetObjectKind().SetGroupVersionKind(to)
		return out, nil
	}
}
