package gates

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
)

// Drop returns the [fairlead.dev/internal/resource.Strategy]'s Drop of the kind of obj, or nil if the kind
// has no gated fields.
func Drop(obj runtime.Object) func(obj, old runtime.Object) []string {
	c := compiler{}
	s := c.compile(reflect.TypeOf(obj).Elem())
	if s == nil {
		return nil
	}
	return s.drop
}

// drop clears the gated fields of obj whose gates old, which may be nil, does not use. It returns warnings.
func (s *structure) drop(obj, old runtime.Object) (warns []string) {
	v := reflect.ValueOf(obj).Elem()
	if !s.used(v) {
		return nil
	}
	inUse := map[string]bool{}
	if old != nil {
		s.each(reflect.ValueOf(old).Elem(), "", func(f *leaf, _ reflect.Value, _ string) { inUse[f.gate] = true })
	}
	s.each(v, "", func(f *leaf, v reflect.Value, path string) {
		if inUse[f.gate] {
			return
		}
		v.SetZero()
		if text := warnings[f.gate]; text != "" {
			warns = append(warns, path+": "+text)
		}
	})
	return warns
}

// used reports whether v has a value in a gated field.
func (s *structure) used(v reflect.Value) bool {
	for i := range s.leaves {
		if !v.Field(s.leaves[i].index).IsZero() {
			return true
		}
	}
	for i := range s.branches {
		b := &s.branches[i]
		f := v.Field(b.index)
		switch f.Kind() {
		case reflect.Struct:
			if b.to.used(f) {
				return true
			}
		case reflect.Pointer:
			if !f.IsNil() && b.to.used(f.Elem()) {
				return true
			}
		case reflect.Slice:
			for j := range f.Len() {
				if b.to.used(f.Index(j)) {
					return true
				}
			}
		}
	}
	return false
}

// each calls do for the gated fields of v that have a value, with their paths.
func (s *structure) each(v reflect.Value, path string, do func(f *leaf, v reflect.Value, path string)) {
	for i := range s.leaves {
		l := &s.leaves[i]
		if f := v.Field(l.index); !f.IsZero() {
			do(l, f, join(path, l.name))
		}
	}
	for i := range s.branches {
		b := &s.branches[i]
		f, at := v.Field(b.index), join(path, b.name)
		switch f.Kind() {
		case reflect.Struct:
			b.to.each(f, at, do)
		case reflect.Pointer:
			if !f.IsNil() {
				b.to.each(f.Elem(), at, do)
			}
		case reflect.Slice:
			for j := range f.Len() {
				b.to.each(f.Index(j), at, do)
			}
		}
	}
}

// join appends a name to a path. Inlined fields have no name.
func join(path, name string) string {
	if path == "" || name == "" {
		return path + name
	}
	return path + "." + name
}
