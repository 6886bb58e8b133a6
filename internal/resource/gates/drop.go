package gates

import (
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// A dropper drops the fields of gates that are off.
type dropper struct {
	of    *structure // the part of an object from which fields are dropped
	whole *structure // all of the object, where a gate can be in use
}

// drop clears the gated fields of obj whose gates old, which may be nil, does not use. It returns warnings.
func (d dropper) drop(obj, old runtime.Object) []string {
	if v := reflect.ValueOf(obj).Elem(); d.of.used(v) { // rarely
		return d.clear(v, old)
	}
	return nil
}

func (d dropper) clear(v reflect.Value, old runtime.Object) (warns []string) {
	inUse := map[string]bool{}
	if old != nil {
		d.whole.each(reflect.ValueOf(old).Elem(), "", func(u use) { inUse[u.gate] = true })
	}
	d.of.each(v, "", func(u use) {
		if inUse[u.gate] {
			return
		}
		u.clear()
		if text := warnings[u.gate]; text != "" {
			warns = append(warns, u.path+": "+text)
		}
	})
	return warns
}

// A use is a gated field or part that has a value.
type use struct {
	gate, path string
	clear      func()
}

// used reports whether v has a value in a gated field.
func (s *structure) used(v reflect.Value) bool {
	for i := range s.leaves {
		if !v.Field(s.leaves[i].index).IsZero() {
			return true
		}
	}
	for i := range s.parts {
		if s.parts[i].uses(v.Addr().Interface()) {
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
		case reflect.Map:
			for _, key := range f.MapKeys() {
				if b.to.used(addressable(f.MapIndex(key))) {
					return true
				}
			}
		}
	}
	return false
}

// each calls do for the gated fields and parts of v that have a value.
func (s *structure) each(v reflect.Value, path string, do func(use)) {
	for i := range s.parts {
		if p, at := &s.parts[i], v.Addr().Interface(); p.uses(at) {
			do(use{p.gate, path, func() { p.drop(at) }})
		}
	}
	for i := range s.leaves {
		l := &s.leaves[i]
		if f := v.Field(l.index); !f.IsZero() {
			do(use{l.gate, join(path, l.name), f.SetZero})
		}
	}
	for i := range s.branches {
		b := &s.branches[i]
		f, at := v.Field(b.index), join(path, b.name)
		switch f.Kind() {
		case reflect.Struct:
			b.to.each(f, at, do)
		case reflect.Pointer:
			if f.IsNil() {
				continue
			}
			b.to.each(f.Elem(), at, func(u use) {
				if f.Type().Elem() == pruned {
					clear := u.clear
					u.clear = func() {
						if clear(); f.Elem().IsZero() {
							f.SetZero()
						}
					}
				}
				do(u)
			})
		case reflect.Slice:
			for j := range f.Len() {
				b.to.each(f.Index(j), at, do)
			}
		case reflect.Map:
			for _, key := range f.MapKeys() {
				elem := addressable(f.MapIndex(key))
				b.to.each(elem, join(at, fmt.Sprint(key)), func(u use) {
					clear := u.clear
					u.clear = func() { clear(); f.SetMapIndex(key, elem) }
					do(u)
				})
			}
		}
	}
}

// pruned is the type that does not stay empty: a pointer to one goes with its last field.
var pruned = reflect.TypeFor[corev1.Lifecycle]()

// addressable returns a copy of v that can be changed.
func addressable(v reflect.Value) reflect.Value {
	p := reflect.New(v.Type()).Elem()
	p.Set(v)
	return p
}

// join appends a name to a path. Inlined fields have no name.
func join(path, name string) string {
	if path == "" || name == "" {
		return path + name
	}
	return path + "." + name
}
