package gates

import (
	"reflect"
	"strings"
)

// A structure leads from a Go struct to its gated fields. It leaves out the fields that lead to none.
type structure struct {
	leaves   []leaf
	branches []branch
}

// A leaf is a gated field.
type leaf struct {
	index int
	name  string // in JSON
	gate  string
}

// A branch is a field of a struct, a pointer to one or a slice of them that lead to gated fields.
type branch struct {
	index int
	name  string // in JSON; empty if inlined
	to    *structure
}

// compiler has the structures of the types seen, nil for those without gated fields. A type that contains itself
// counts as one without: none of those has gated fields.
type compiler map[reflect.Type]*structure

func (c compiler) compile(t reflect.Type) *structure {
	if s, seen := c[t]; seen {
		return s
	}
	c[t] = nil
	s := &structure{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if gate := gateOf(t, f.Name); gate != "" {
			s.leaves = append(s.leaves, leaf{i, name, gate})
			continue
		}
		elem := f.Type
		if k := elem.Kind(); k == reflect.Pointer || k == reflect.Slice {
			elem = elem.Elem()
		}
		if elem.Kind() != reflect.Struct || !f.IsExported() {
			continue
		}
		if to := c.compile(elem); to != nil {
			s.branches = append(s.branches, branch{i, name, to})
		}
	}
	if len(s.leaves)+len(s.branches) == 0 {
		return nil
	}
	c[t] = s
	return s
}

// gateOf returns the gate of a field, or "".
func gateOf(t reflect.Type, field string) string {
	for _, g := range table {
		if g.of == t && g.field == field {
			return g.gate
		}
	}
	return ""
}
