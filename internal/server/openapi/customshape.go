package openapi

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// CustomShape returns the shape of a custom kind's objects, given their schema without metadata; a nil schema
// leaves it open. With keepsUnknown, fields missing in the schema can be owned too.
func CustomShape(s *spec.Schema, keepsUnknown bool) *Shape {
	if s == nil {
		return LooseShape
	}
	root := shapeOfSchema(s, keepsUnknown)
	if root.Kind != Object {
		return LooseShape
	}
	return withMeta(root)
}

// withMeta adds the fields common to all objects to an object's shape.
func withMeta(s *Shape) *Shape {
	if s.Fields == nil {
		s.Fields = map[string]ShapeField{}
	}
	s.Fields["apiVersion"] = ShapeField{"f:apiVersion", leaf}
	s.Fields["kind"] = ShapeField{"f:kind", leaf}
	s.Fields["metadata"] = ShapeField{"f:metadata", ShapeOf(reflect.TypeFor[metav1.ObjectMeta]())}
	return s
}

// shapeOfSchema follows the rules by which structured-merge-diff reads a schema.
func shapeOfSchema(s *spec.Schema, keepsUnknown bool) *Shape {
	if s.Extensions[preserveUnknown] == true {
		keepsUnknown = true
	}
	typ := ""
	if len(s.Type) > 0 {
		typ = s.Type[0]
	}
	switch {
	case typ == "array":
		return shapeOfSchemaList(s, keepsUnknown)
	case typ == "" && len(s.Properties) == 0 && s.AdditionalProperties == nil:
		return LooseShape
	case typ != "" && typ != "object", s.Extensions["x-kubernetes-map-type"] == "atomic":
		return leaf
	}
	shape := &Shape{Kind: Object, Fields: map[string]ShapeField{}}
	for name := range s.Properties {
		p := s.Properties[name]
		shape.Fields[name] = ShapeField{"f:" + name, shapeOfSchema(&p, keepsUnknown)}
	}
	switch more := s.AdditionalProperties; {
	case more == nil && (keepsUnknown || len(s.Properties) == 0), more != nil && more.Schema == nil && more.Allows:
		shape.Elem = LooseShape
	case more != nil && more.Schema != nil:
		shape.Elem = shapeOfSchema(more.Schema, keepsUnknown)
	}
	if s.Extensions[embedded] == true {
		withMeta(shape)
	}
	return shape
}

func shapeOfSchemaList(s *spec.Schema, keepsUnknown bool) *Shape {
	if s.Items == nil || s.Items.Schema == nil {
		return leaf
	}
	switch s.Extensions["x-kubernetes-list-type"] {
	case "set":
		return &Shape{Kind: Set, Elem: leaf}
	case "map":
		shape := &Shape{Kind: Keyed, Elem: shapeOfSchema(s.Items.Schema, keepsUnknown)}
		keys, _ := s.Extensions["x-kubernetes-list-map-keys"].([]string)
		for _, key := range keys {
			k := ShapeKey{Name: key}
			if def := s.Items.Schema.Properties[key].Default; def != nil {
				k.Default, _ = json.Marshal(def) // it came from JSON
			}
			shape.Keys = append(shape.Keys, k)
		}
		slices.SortFunc(shape.Keys, func(a, b ShapeKey) int { return strings.Compare(a.Name, b.Name) })
		return shape
	}
	return leaf
}
