package openapi

import (
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
)

// connections returns the paths of a subresource that connects to another peer. A proxy has a second path, for the
// path behind it.
func (b pathBuilder) connections(s resource.Subresource, at string, scope []parameter) []path {
	gvk := schema.GroupVersionKind{Group: b.gvk.Group, Version: b.gvk.Version, Kind: s.Kind}
	if s.Kind == b.r.Kind { // it is read, as text
		op := operation{
			method: "get", id: b.id("read", suffixOf(s.Name)), description: "read " + s.Name + " of the specified " + b.r.Kind,
			tag: b.tag, action: "get", gvk: gvk, codes: ok,
			answerTypes: append([]string{"text/plain"}, answerTypes...),
		}
		return []path{{at, slices.Concat(scope, []parameter{pretty}, queryOf(reflect.TypeFor[corev1.PodLogOptions]())), []operation{op}}}
	}
	var query []parameter
	if obj, err := resource.Scheme().New(gvk); err == nil {
		query = queryOf(reflect.TypeOf(obj).Elem())
	}
	scope = slices.Concat(scope, query)
	out := []path{{at, scope, b.connect(s, gvk, "")}}
	if slices.Contains(s.Verbs, "update") {
		out = append(out, path{at + "/{path}", append(slices.Clone(scope), pathIn), b.connect(s, gvk, "WithPath")})
	}
	return out
}

var methodsOf = map[string][]string{
	"get": {"get"}, "create": {"post"}, "update": {"put", "head", "options"}, "patch": {"patch"}, "delete": {"delete"},
}

// connect returns the operations of such a path, one for each method.
func (b pathBuilder) connect(s resource.Subresource, gvk schema.GroupVersionKind, suffix string) (ops []operation) {
	for _, verb := range s.Verbs {
		for _, m := range methodsOf[verb] {
			ops = append(ops, operation{
				method: m, id: b.id("connect/"+strings.ToUpper(m[:1])+m[1:], suffixOf(s.Name)+suffix),
				description: "connect " + strings.ToUpper(m) + " requests to " + s.Name + " of " + b.r.Kind,
				tag:         b.tag, action: "connect", gvk: gvk, codes: ok, answerTypes: anyType,
			})
		}
	}
	return ops
}

// queryOf returns the query parameters that an options type is decoded from.
func queryOf(t reflect.Type) (list []parameter) {
	doc := reflect.New(t).Interface().(swagger).SwaggerDoc()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "" {
			continue // its kind
		}
		kind := deref(t.Field(i).Type)
		if kind.Kind() == reflect.Slice {
			kind = kind.Elem()
		}
		typ := "integer"
		switch kind.Kind() {
		case reflect.String:
			typ = "string"
		case reflect.Bool:
			typ = "boolean"
		case reflect.Struct: // a time
			continue
		}
		list = append(list, parameter{name, "query", typ, doc[name]})
	}
	return list
}
