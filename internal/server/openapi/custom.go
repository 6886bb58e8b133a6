package openapi

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"fairlead.dev/internal/resource"
)

// Extensions of a custom kind's schema that this package interprets.
const (
	preserveUnknown = "x-kubernetes-preserve-unknown-fields"
	embedded        = "x-kubernetes-embedded-resource"
)

// CustomModels are the definitions of a custom kind in all its versions, in the format of Models.
func CustomModels(r *resource.Resource) (map[string]*spec.Schema, error) {
	d := newDefinitions(resource.Scheme())
	for _, v := range r.Custom.VersionNames() {
		d.custom(r, v)
	}
	return d.specs()
}

// customName returns the definition name of a kind without a Go type.
func customName(gvk schema.GroupVersionKind) string {
	parts := strings.Split(gvk.Group, ".")
	slices.Reverse(parts)
	return strings.Join(append(parts, gvk.Version, gvk.Kind), ".")
}

// custom adds the definition of a custom kind in a version.
func (d *definitions) custom(r *resource.Resource, version string) string {
	gvk := r.GVK(version)
	meta := &model{ref: d.define(reflect.TypeFor[metav1.ObjectMeta]()), description: metav1.PartialObjectMetadata{}.SwaggerDoc()["metadata"]}
	name := customName(gvk)
	d.models[name] = &model{raw: func(v3 bool) object {
		o := object{"type": "object"}
		s := r.Custom.Schema(version)
		switch {
		case s == nil:
		case !v3 && (s.Extensions[preserveUnknown] == true || r.Custom.PreservesUnknownFields()):
			// kubectl would take any properties for the complete list.
		default:
			o = plain(s)
			if !v3 {
				old(o)
			}
			addMeta(o, meta, v3)
			setMeta(o, meta, v3)
		}
		o["x-kubernetes-group-version-kind"] = gvkList([]schema.GroupVersionKind{gvk})
		if f := selectable(r, version); f != nil {
			o["x-kubernetes-selectable-fields"] = f
		}
		return o
	}}
	return name
}

// customList adds the definition of its list kind.
func (d *definitions) customList(r *resource.Resource, version, item string) string {
	gvk := r.GVK(version)
	gvk.Kind = r.ListKind()
	text := metav1.PartialObjectMetadataList{}.SwaggerDoc()
	meta := metav1.TypeMeta{}.SwaggerDoc()
	name := customName(gvk)
	d.models[name] = &model{
		typ: "object", required: []string{"items"}, groupVersionKinds: []schema.GroupVersionKind{gvk},
		description: gvk.Kind + " is a list of " + r.Kind,
		properties: map[string]*model{
			"apiVersion": {typ: "string", description: meta["apiVersion"]},
			"kind":       {typ: "string", description: meta["kind"]},
			"metadata":   {ref: d.define(reflect.TypeFor[metav1.ListMeta]()), description: text["metadata"]},
			"items": {typ: "array", items: &model{ref: item},
				description: "List of " + r.Plural + ". More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"},
		},
	}
	return name
}

func selectable(r *resource.Resource, version string) (list []object) {
	if r.Versions[0].Name != version {
		return nil
	}
	for _, f := range r.Fields {
		list = append(list, object{"fieldPath": f.Label})
	}
	return list
}

// plain converts a schema to JSON values.
func plain(s *spec.Schema) object {
	o := object{}
	text, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	if err != nil {
		return object{"type": "object"}
	}
	return o
}

// members calls f for each immediate subschema.
func members(o object, f func(object)) {
	properties, _ := o["properties"].(map[string]any)
	for _, p := range properties {
		if p, ok := p.(map[string]any); ok {
			f(p)
		}
	}
	for _, name := range []string{"items", "additionalProperties"} {
		if p, ok := o[name].(map[string]any); ok {
			f(p)
		}
	}
}

// setMeta adds the properties common to all objects to an object's schema.
func setMeta(o object, meta *model, v3 bool) {
	properties, _ := o["properties"].(map[string]any)
	if properties == nil {
		properties = map[string]any{}
		o["properties"] = properties
	}
	text := metav1.TypeMeta{}.SwaggerDoc()
	properties["apiVersion"] = object{"type": "string", "description": text["apiVersion"]}
	properties["kind"] = object{"type": "string", "description": text["kind"]}
	properties["metadata"] = meta.write(v3)
}

// addMeta calls setMeta for the embedded objects in a schema.
func addMeta(o object, meta *model, v3 bool) {
	members(o, func(p object) { addMeta(p, meta, v3) })
	if o[embedded] != true || !v3 && o[preserveUnknown] == true {
		return
	}
	setMeta(o, meta, v3)
	required, _ := o["required"].([]any)
	for _, name := range []string{"kind", "apiVersion"} {
		if !slices.Contains(required, any(name)) {
			required = append(required, name)
		}
	}
	o["required"] = required
}

// old removes from a schema the parts that OpenAPI v2 cannot express or that kubectl would misread.
func old(o object) {
	for _, name := range []string{"allOf", "oneOf", "anyOf", "not"} {
		delete(o, name)
	}
	nullable := func(v any) bool {
		p, ok := v.(map[string]any)
		return ok && p["nullable"] == true
	}
	if properties, ok := o["properties"].(map[string]any); ok {
		required, _ := o["required"].([]any)
		required = slices.DeleteFunc(required, func(name any) bool { s, _ := name.(string); return nullable(properties[s]) })
		if o["required"] = any(required); len(required) == 0 {
			delete(o, "required")
		}
	}
	if nullable(o["additionalProperties"]) {
		delete(o, "required")
	}
	if o["nullable"] == true {
		for _, name := range []string{"type", "nullable", "items", "properties"} {
			delete(o, name)
		}
	}
	if o[preserveUnknown] == true {
		delete(o, "items")
		delete(o, "properties")
		if o["type"] == "object" {
			delete(o, "type")
		}
	}
	if o["items"] == nil && o["type"] == "array" {
		delete(o, "type")
	}
	members(o, old)
}
