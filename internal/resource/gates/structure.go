package gates

import (
	"reflect"
	"strings"
	"sync"
)

// A structure leads from a Go struct to its gated fields and parts. It leaves out the fields that lead to none.
type structure struct {
	leaves   []leaf
	parts    []gatedPart
	branches []branch
}

// A leaf is a gated field.
type leaf struct {
	index int
	name  string // in JSON
	gate  string
}

// A branch is a field that leads to gated fields: a struct, a pointer to one, or a slice or a map of them.
type branch struct {
	index int
	name  string // in JSON; empty if inlined
	to    *structure
}

// A compiler makes the structures of types for the gates that are off.
type compiler struct {
	fields map[reflect.Type][]gatedField
	parts  map[reflect.Type][]gatedPart
	// seen has the structures of the types seen, nil for those without gated fields. Of the types that contain themselves only
	// those with gated fields of their own, or in other types, that do so directly count as ones with them.
	seen map[reflect.Type]*structure
	// mu guards seen. The structures in it are immutable.
	mu sync.Mutex
}

// ofNewest returns the compiler of the default gates in the newest version, which the control planes of a process share.
var ofNewest = sync.OnceValue(func() *compiler { return newCompiler(API{}.Enabled) })

func newCompiler(enabled func(gate string) bool) *compiler {
	c := &compiler{fields: map[reflect.Type][]gatedField{}, parts: map[reflect.Type][]gatedPart{}, seen: map[reflect.Type]*structure{}}
	for _, f := range table {
		if !enabled(f.gate) {
			c.fields[f.of] = append(c.fields[f.of], f)
		}
	}
	for _, p := range parts {
		if !enabled(p.gate) {
			c.parts[p.of] = append(c.parts[p.of], p)
		}
	}
	return c
}

// of returns the structure of a type; nil for one without gated fields. It is safe for concurrent use.
func (c *compiler) of(t reflect.Type) *structure {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.compile(t)
}

// compile is of. The caller has mu.
func (c *compiler) compile(t reflect.Type) *structure {
	if s, seen := c.seen[t]; seen {
		return s
	}
	c.seen[t] = nil
	s := &structure{parts: c.parts[t]}
	var itself []branch
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if gate := c.gateOf(t, f.Name); gate != "" {
			s.leaves = append(s.leaves, leaf{i, name, gate})
		}
		of := structOf(f.Type)
		if of == nil || !f.IsExported() {
			continue
		}
		if of == t {
			itself = append(itself, branch{i, name, s})
			continue
		}
		if to := c.compile(of); to != nil {
			s.branches = append(s.branches, branch{i, name, to})
		}
	}
	if len(s.leaves)+len(s.parts)+len(s.branches) == 0 {
		return nil
	}
	s.branches = append(s.branches, itself...)
	c.seen[t] = s
	return s
}

// gateOf returns the gate of a field if it is off, else "".
func (c *compiler) gateOf(t reflect.Type, field string) string {
	for _, f := range c.fields[t] {
		if f.field == field {
			return f.gate
		}
	}
	return ""
}

// structOf returns the struct of a field that is one, points to one, or is a slice or a map of them; else nil.
func structOf(t reflect.Type) reflect.Type {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	return t
}

// status returns the structure of the status alone; nil for one without gated fields.
func (s *structure) status() *structure {
	for _, b := range s.branches {
		if b.name == "status" {
			return &structure{branches: []branch{b}}
		}
	}
	return nil
}
