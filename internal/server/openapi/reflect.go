package openapi

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// definitions turns Go types into models. Types that others refer to become definitions of their own.
type definitions struct {
	scheme *runtime.Scheme
	facts  *facts
	models map[string]*model
	// shown reports whether a kind belongs to this document, for types that have several kinds; nil accepts all.
	shown func(schema.GroupVersionKind) bool
	docs  map[string]map[string]string // see docOf
}

func newDefinitions(scheme *runtime.Scheme) *definitions {
	return &definitions{scheme: scheme, facts: readFacts(), models: map[string]*model{}}
}

// Methods by which Go types describe their own schema.
type (
	modelName interface{ OpenAPIModelName() string }
	swagger   interface{ SwaggerDoc() map[string]string }
	schemaOf  interface {
		OpenAPISchemaType() []string
		OpenAPISchemaFormat() string
	}
	oneOfTypes interface{ OpenAPIV3OneOfTypes() []string }
)

// object returns the definition name of an API object, after adding it with everything that it refers to.
func (d *definitions) object(obj runtime.Object) string { return d.define(reflect.TypeOf(obj).Elem()) }

// define adds a struct type and returns its definition name.
func (d *definitions) define(t reflect.Type) string {
	zero := reflect.New(t).Interface()
	name := restName(t)
	if n, ok := zero.(modelName); ok {
		name = n.OpenAPIModelName()
	}
	if d.models[name] != nil {
		return name
	}
	m := &model{typ: "object", properties: map[string]*model{}}
	d.models[name] = m // before its fields, which may refer back
	m.description = d.docOf(t)[""]
	if s, ok := zero.(schemaOf); ok {
		m.format = s.OpenAPISchemaFormat()
		if m.typ = ""; len(s.OpenAPISchemaType()) > 0 {
			m.typ = s.OpenAPISchemaType()[0]
		}
		if s, ok := zero.(oneOfTypes); ok {
			m.oneOf = s.OpenAPIV3OneOfTypes()
		}
		return name
	}
	if obj, ok := zero.(runtime.Object); ok {
		m.groupVersionKinds = d.kinds(obj)
	}
	if d.facts.atomic[t.PkgPath()+"."+t.Name()] {
		m.mapType = "atomic"
	}
	d.fields(m, t)
	if discriminator, ok := d.facts.unions[t.PkgPath()+"."+t.Name()]; ok {
		m.union = unionOf(t, discriminator)
	}
	return name
}

// unionOf returns the union of all fields except the discriminator; a field's Go name is its discriminator value.
func unionOf(t reflect.Type, discriminator string) *union {
	u := &union{discriminator, map[string]string{}}
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != discriminator {
			u.members[name] = t.Field(i).Name
		}
	}
	return u
}

// kinds returns the kinds that the scheme has for the type.
func (d *definitions) kinds(obj runtime.Object) []schema.GroupVersionKind {
	list, _, err := d.scheme.ObjectKinds(obj)
	if err != nil {
		return nil
	}
	several := len(list) > 1
	list = slices.DeleteFunc(slices.Clone(list), func(k schema.GroupVersionKind) bool {
		return k.Version == runtime.APIVersionInternal || several && d.shown != nil && !d.shown(k)
	})
	slices.SortFunc(list, func(a, b schema.GroupVersionKind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Kind, b.Kind))
	})
	return list
}

// restName names a type without an OpenAPIModelName: by its package path with the domain reversed.
func restName(t reflect.Type) string {
	domain, path, _ := strings.Cut(t.PkgPath(), "/")
	parts := strings.Split(domain, ".")
	slices.Reverse(parts)
	return strings.Join(parts, ".") + "." + strings.ReplaceAll(path, "/", ".") + "." + t.Name()
}

// fields adds the properties of a struct, including those of embedded structs.
func (d *definitions) fields(m *model, t reflect.Type) {
	doc := d.docOf(t)
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		name, opts, _ := strings.Cut(tag, ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" {
			if f.Anonymous || strings.Contains(opts, "inline") {
				d.fields(m, deref(f.Type))
			}
			continue
		}
		omitted := strings.Contains(opts, "omitempty") || strings.Contains(opts, "omitzero")
		known := d.facts.fields[t.PkgPath()+"."+t.Name()+"."+name]
		p := d.value(f.Type)
		p.description = doc[name]
		if p.patchStrategy = f.Tag.Get("patchStrategy"); p.patchStrategy != "" {
			p.patchMergeKey = f.Tag.Get("patchMergeKey")
		}
		if kind := deref(f.Type).Kind(); kind == reflect.Slice {
			p.listType, p.listMapKeys = known.merge, known.keys
		} else if known.merge != "" {
			p.mapType = known.merge
		}
		switch {
		case known.def != nil:
			p.def = known.def
		case f.Type.Kind() == reflect.Struct && !selfDescribed(f.Type):
			p.def = json.RawMessage("{}")
		case !omitted:
			p.def = zeroOf(f.Type)
		}
		if len(p.enum) > 0 {
			p.description += possible(p.enum)
		}
		m.properties[name] = p
		if known.required || !omitted && !known.optional {
			m.required = append(m.required, name)
		}
	}
}

func possible(values []string) string {
	var b strings.Builder
	b.WriteString("\n\nPossible enum values:")
	for _, v := range values {
		b.WriteString("\n - `\"" + v + "\"`")
	}
	return b.String()
}

func deref(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// selfDescribed reports whether a struct is something other than a JSON object with fields of its own.
func selfDescribed(t reflect.Type) bool {
	if t == reflect.TypeFor[runtime.RawExtension]() {
		return true
	}
	_, ok := reflect.New(t).Interface().(schemaOf)
	return ok
}

// zeroOf returns the default of a field that is always written.
func zeroOf(t reflect.Type) json.RawMessage {
	switch t.Kind() {
	case reflect.String:
		return json.RawMessage(`""`)
	case reflect.Bool:
		return json.RawMessage("false")
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return json.RawMessage("0")
	}
	return nil
}

// value returns the model of a field's or an element's type.
func (d *definitions) value(t reflect.Type) *model {
	switch t.Kind() {
	case reflect.Pointer:
		return d.value(t.Elem())
	case reflect.Struct:
		return &model{ref: d.define(t)}
	case reflect.Interface: // a runtime.Object in an internal list
		return &model{ref: d.define(reflect.TypeFor[runtime.RawExtension]())}
	case reflect.String:
		return &model{typ: "string", enum: d.facts.enums[t.PkgPath()+"."+t.Name()]}
	case reflect.Bool:
		return &model{typ: "boolean"}
	case reflect.Float32, reflect.Float64:
		return &model{typ: "number", format: "double"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return &model{typ: "integer", format: "int32"}
	case reflect.Int64, reflect.Uint64:
		return &model{typ: "integer", format: "int64"}
	case reflect.Map:
		return &model{typ: "object", additional: d.element(t.Elem())}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return &model{typ: "string", format: "byte"}
		}
		return &model{typ: "array", items: d.element(t.Elem())}
	}
	return &model{}
}

func (d *definitions) element(t reflect.Type) *model {
	m := d.value(t)
	if t.Kind() == reflect.Struct && !selfDescribed(t) {
		m.def = json.RawMessage("{}")
	} else if t.Kind() != reflect.Slice {
		m.def = zeroOf(t)
	}
	return m
}
