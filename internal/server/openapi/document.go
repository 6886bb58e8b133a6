package openapi

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
)

var info = object{"title": "Kubernetes", "version": "1.37"}

var bearer = object{"BearerToken": object{
	"type": "apiKey", "in": "header", "name": "authorization", "description": "Bearer Token authentication",
}}

// builder collects the paths and definitions of one document.
type builder struct {
	defs  *definitions
	paths []path
}

func newBuilder(scheme *runtime.Scheme) *builder {
	return &builder{defs: newDefinitions(scheme)}
}

// add adds one version of a resource.
func (b *builder) add(r *resource.Resource, v resource.Version) {
	item, list := b.kinds(r, v)
	b.paths = append(b.paths, paths(r, v.Name, item, list, func(s resource.Subresource) (string, schema.GroupVersionKind) {
		gvk := schema.GroupVersionKind{Group: s.Group, Version: s.Version, Kind: s.Kind}
		if s.Version == "" {
			gvk = schema.GroupVersionKind{Group: r.Group, Version: v.Name, Kind: s.Kind}
		}
		if s.Connects || gvk == r.GVK(v.Name) {
			return item, gvk
		}
		obj, err := b.defs.scheme.New(gvk)
		if err != nil {
			return "", gvk
		}
		return b.defs.object(obj), gvk
	})...)
}

// kinds returns the definitions of the resource's objects and of their lists.
func (b *builder) kinds(r *resource.Resource, v resource.Version) (item, list string) {
	if r.Custom != nil {
		item = b.defs.custom(r, v.Name)
		return item, b.defs.customList(r, v.Name, item)
	}
	item = b.defs.object(v.New())
	if v.NewList != nil && r.Has("list") {
		list = b.defs.object(v.NewList())
	}
	return item, list
}

func (b *builder) encode(v3 bool) ([]byte, error) {
	b.defineShared()
	var doc, paths, definitions encoded
	for _, p := range b.paths {
		paths.add(p.path, p.write(v3))
	}
	for name, m := range b.defs.models {
		definitions.add(name, m.write(v3))
	}
	doc.add("info", info)
	doc.addObject("paths", &paths)
	if v3 {
		var components encoded
		components.add("securitySchemes", bearer)
		if len(definitions.members) > 0 {
			components.addObject("schemas", &definitions)
		}
		doc.add("openapi", "3.0.0")
		doc.addObject("components", &components)
	} else {
		doc.add("swagger", "2.0")
		doc.addObject("definitions", &definitions)
		doc.add("securityDefinitions", bearer)
		doc.add("security", []object{{"BearerToken": []string{}}})
	}
	return doc.text(), doc.err
}
