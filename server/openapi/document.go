package openapi

import (
	"encoding/json"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"fairlead.dev/resource"
)

var info = object{"title": "Kubernetes", "version": "unversioned"}

var bearer = object{"BearerToken": object{
	"type": "apiKey", "in": "header", "name": "authorization", "description": "Bearer Token authentication",
}}

// builder collects the paths and definitions of one document.
type builder struct {
	defs  *definitions
	paths []path
}

func newBuilder(scheme *runtime.Scheme) *builder {
	b := &builder{defs: newDefinitions(scheme)}
	b.defs.define(reflect.TypeFor[metav1.DeleteOptions]())
	b.defs.define(reflect.TypeFor[metav1.Status]())
	b.defs.define(reflect.TypeFor[metav1.Patch]())
	return b
}

// add adds one version of a resource.
func (b *builder) add(r *resource.Resource, v resource.Version) {
	item, list := b.kinds(r, v)
	b.paths = append(b.paths, paths(r, v.Name, item, list, func(s resource.Subresource) (string, schema.GroupVersionKind) {
		gvk := schema.GroupVersionKind{Group: s.Group, Version: s.Version, Kind: s.Kind}
		if s.Version == "" {
			gvk = schema.GroupVersionKind{Group: r.Group, Version: v.Name, Kind: s.Kind}
		}
		if gvk == r.GVK(v.Name) {
			return item, gvk
		}
		obj, err := b.defs.scheme.New(gvk)
		if err != nil {
			return "", gvk
		}
		return b.defs.object(obj), gvk
	})...)
}

// kinds are the definitions of the resource's objects and of their lists.
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

// listing adds the discovery document of a group's version.
func (b *builder) listing(group, ver string) {
	at := "/apis/" + group + "/" + ver + "/"
	if group == "" {
		at = "/api/" + ver + "/"
	}
	b.paths = append(b.paths, path{path: at, operations: []operation{{
		method: "get", id: "get" + idGroup(group, ver) + "APIResources", description: "get available resources",
		tag: tag(group, ver), answer: b.defs.define(reflect.TypeFor[metav1.APIResourceList]()), codes: ok,
	}}})
}

// version adds /version/.
func (b *builder) version() {
	b.paths = append(b.paths, path{path: "/version/", operations: []operation{{
		method: "get", id: "getCodeVersion", description: "get the version information for this server",
		tag: "version", json: true, answer: b.defs.define(reflect.TypeFor[version.Info]()), codes: ok,
	}}})
}

func (b *builder) encode(v3 bool) ([]byte, error) {
	all, definitions := object{}, object{}
	for _, p := range b.paths {
		all[p.path] = p.write(v3)
	}
	for name, m := range b.defs.models {
		definitions[name] = m.write(v3)
	}
	if v3 {
		return json.Marshal(object{
			"openapi": "3.0.0", "info": info, "paths": all,
			"components": object{"schemas": definitions, "securitySchemes": bearer},
		})
	}
	return json.Marshal(object{
		"swagger": "2.0", "info": info, "paths": all, "definitions": definitions,
		"securityDefinitions": bearer, "security": []object{{"BearerToken": []string{}}},
	})
}
