package openapi

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
)

// Shape describes how the values of a Go type divide into fields that managers can own.
type Shape struct {
	Kind ShapeKind
	// Fields are the fields of a struct by their JSON names.
	Fields map[string]ShapeField
	// Elem is the shape of a map's values or a list's items.
	Elem *Shape
	// Keys identify the items of a keyed list, sorted by name.
	Keys []ShapeKey
}

// ShapeField is a field of a struct.
type ShapeField struct {
	Element string // its path element in FieldsV1: f:name
	Shape   *Shape
}

// ShapeKey is one key of a keyed list.
type ShapeKey struct {
	Name    string
	Default json.RawMessage // the value that a missing key stands for, or nil
}

// ShapeKind is how a value divides.
type ShapeKind uint8

// The kinds of shapes.
const (
	// Leaf is owned as a whole: scalars, atomic lists, maps and structs.
	Leaf ShapeKind = iota
	// Object has members: those in Fields, and others by Elem.
	Object
	// Keyed is a list whose items are identified by Keys.
	Keyed
	// Set is a list of scalars.
	Set
	// Loose follows the value: an object of loose values, or else a leaf.
	Loose
)

var leaf = &Shape{Kind: Leaf}

// LooseShape is the shape of objects without a Go type.
var LooseShape = &Shape{Kind: Loose}

var shapes struct {
	sync.Mutex
	facts  *facts
	byType map[reflect.Type]*Shape
}

// ShapeOf returns the shape of a struct type. It is computed on first use and kept.
func ShapeOf(t reflect.Type) *Shape {
	shapes.Lock()
	defer shapes.Unlock()
	if shapes.byType == nil {
		shapes.byType, shapes.facts = map[reflect.Type]*Shape{}, readFacts()
	}
	return shapeOf(t)
}

// shapeOf is ShapeOf for any type. The lock is held.
func shapeOf(t reflect.Type) *Shape {
	switch t.Kind() {
	case reflect.Pointer:
		return shapeOf(t.Elem())
	case reflect.Interface:
		return leaf
	case reflect.Map:
		return &Shape{Kind: Object, Elem: shapeOf(t.Elem())}
	case reflect.Struct:
		if shapes.facts.atomic[t.PkgPath()+"."+t.Name()] {
			return leaf
		}
		return shapeOfStruct(t)
	}
	return leaf // scalars, and lists without a marker on their field
}

func shapeOfStruct(t reflect.Type) *Shape {
	if s := shapes.byType[t]; s != nil {
		return s
	}
	if t == reflect.TypeFor[runtime.RawExtension]() {
		return leaf
	}
	if s, ok := reflect.New(t).Interface().(schemaOf); ok {
		types := s.OpenAPISchemaType()
		if len(types) == 0 || types[0] == "object" {
			return LooseShape
		}
		return leaf
	}
	s := &Shape{Kind: Object, Fields: map[string]ShapeField{}}
	shapes.byType[t] = s // before its fields, which may refer back
	s.addFields(t)
	return s
}

func (s *Shape) addFields(t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" {
			if f.Anonymous || strings.Contains(opts, "inline") {
				s.addFields(deref(f.Type))
			}
			continue
		}
		s.Fields[name] = ShapeField{"f:" + name, shapeOfField(t, f, name)}
	}
}

func shapeOfField(t reflect.Type, f reflect.StructField, name string) *Shape {
	known := shapes.facts.fields[t.PkgPath()+"."+t.Name()+"."+name]
	ft := deref(f.Type)
	if ft.Kind() == reflect.Slice {
		return shapeOfList(ft, f, known)
	}
	switch {
	case known.merge == "atomic":
		return leaf
	case known.merge == "granular" && ft.Kind() == reflect.Struct:
		return shapeOfStruct(ft)
	}
	return shapeOf(ft)
}

func shapeOfList(t reflect.Type, f reflect.StructField, known fieldFacts) *Shape {
	merge, keys := known.merge, known.keys
	if merge == "" && strings.HasPrefix(f.Tag.Get("patchStrategy"), "merge") {
		merge = "set"
		if key := f.Tag.Get("patchMergeKey"); key != "" {
			merge, keys = "map", []string{key}
		}
	}
	switch merge {
	case "set":
		return &Shape{Kind: Set, Elem: leaf}
	case "map":
		elem := deref(t.Elem())
		s := &Shape{Kind: Keyed, Elem: shapeOf(elem)}
		for _, key := range keys {
			s.addKey(elem, key)
		}
		return s
	}
	return leaf
}

func (s *Shape) addKey(elem reflect.Type, name string) {
	k := ShapeKey{Name: name, Default: defaultOf(elem, name)}
	at := 0
	for at < len(s.Keys) && s.Keys[at].Name < name {
		at++
	}
	s.Keys = append(s.Keys[:at], append([]ShapeKey{k}, s.Keys[at:]...)...)
}

// defaultOf returns the default of the field in the schema.
func defaultOf(t reflect.Type, name string) json.RawMessage {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == "" && f.Anonymous {
			if def := defaultOf(deref(f.Type), name); def != nil {
				return def
			}
		}
		if tag != name {
			continue
		}
		if def := shapes.facts.fields[t.PkgPath()+"."+t.Name()+"."+name].def; def != nil {
			return def
		}
		if !strings.Contains(opts, "omitempty") && !strings.Contains(opts, "omitzero") {
			return zeroOf(f.Type)
		}
	}
	return nil
}
