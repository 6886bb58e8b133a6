package openapi

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// model is a schema before it is written as v2 or v3.
type model struct {
	ref               string // name of a definition
	description       string
	typ, format       string
	oneOf             []string // v3 only
	enum              []string
	def               json.RawMessage // v3 only
	items, additional *model
	properties        map[string]*model
	required          []string
	listType          string
	listMapKeys       []string
	mapType           string
	patchStrategy     string
	patchMergeKey     string
	preserveUnknown   bool
	union             *union
	groupVersionKinds []schema.GroupVersionKind
	raw               func(v3 bool) object // builds the whole schema, if set
}

// union marks a struct of which one member is set, named by the discriminator field.
type union struct {
	discriminator string
	members       map[string]string // field to discriminator's value
}

func (u *union) write() []object {
	o := object{"fields-to-discriminateBy": u.members}
	if u.discriminator != "" {
		o["discriminator"] = u.discriminator
	}
	return []object{o}
}

type object = map[string]any

// write returns the model as JSON values. encoding/json writes maps with sorted keys.
func (m *model) write(v3 bool) object {
	if m.raw != nil {
		return m.raw(v3)
	}
	o := object{}
	if m.description != "" {
		o["description"] = m.description
	}
	if len(m.enum) > 0 {
		o["enum"] = m.enum
	}
	if v3 && m.def != nil {
		o["default"] = m.def
	}
	if m.listType != "" {
		o["x-kubernetes-list-type"] = m.listType
	}
	if len(m.listMapKeys) > 0 {
		o["x-kubernetes-list-map-keys"] = m.listMapKeys
	}
	if m.mapType != "" {
		o["x-kubernetes-map-type"] = m.mapType
	}
	if m.patchStrategy != "" {
		o["x-kubernetes-patch-strategy"] = m.patchStrategy
	}
	if m.patchMergeKey != "" {
		o["x-kubernetes-patch-merge-key"] = m.patchMergeKey
	}
	if m.preserveUnknown {
		o["x-kubernetes-preserve-unknown-fields"] = true
	}
	if m.union != nil {
		o["x-kubernetes-unions"] = m.union.write()
	}
	if len(m.groupVersionKinds) > 0 {
		o["x-kubernetes-group-version-kind"] = gvkList(m.groupVersionKinds)
	}
	if m.ref != "" {
		m.writeRef(o, v3)
		return o
	}
	if v3 && len(m.oneOf) > 0 {
		var list []object
		for _, t := range m.oneOf {
			list = append(list, object{"type": t})
		}
		o["oneOf"] = list
	} else if m.typ != "" {
		o["type"] = m.typ
	}
	if m.format != "" {
		o["format"] = m.format
	}
	if m.items != nil {
		o["items"] = m.items.write(v3)
	}
	if m.additional != nil {
		o["additionalProperties"] = m.additional.write(v3)
	}
	if len(m.properties) > 0 {
		properties := object{}
		for name, p := range m.properties {
			properties[name] = p.write(v3)
		}
		o["properties"] = properties
	}
	if len(m.required) > 0 {
		o["required"] = m.required
	}
	return o
}

// writeRef writes a reference. v3 allows no siblings of $ref, so a reference with siblings is wrapped there.
func (m *model) writeRef(o object, v3 bool) {
	switch {
	case !v3:
		o["$ref"] = "#/definitions/" + m.ref
	case len(o) == 0:
		o["$ref"] = "#/components/schemas/" + m.ref
	default:
		o["allOf"] = []object{{"$ref": "#/components/schemas/" + m.ref}}
	}
}

func gvkObject(gvk schema.GroupVersionKind) object {
	return object{"group": gvk.Group, "version": gvk.Version, "kind": gvk.Kind}
}

func gvkList(list []schema.GroupVersionKind) (out []object) {
	for _, gvk := range list {
		out = append(out, gvkObject(gvk))
	}
	return out
}
