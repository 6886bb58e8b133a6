package history

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/util/json"
)

// Decode decodes an object; whole numbers are int64.
func Decode(text []byte) (map[string]any, error) {
	var o map[string]any
	err := json.Unmarshal(text, &o)
	return o, err
}

// A Change is a field that differs between two states. From or To is nil if the field is missing.
type Change struct {
	Path FieldPath `json:"path"`
	From any       `json:"from,omitempty"`
	To   any       `json:"to,omitempty"`
}

// Changes returns the differences between two states, in the order of their fields' names; either
// may be nil.
func Changes(from, to map[string]any) []Change {
	var d differ
	d.compare(nil, value(from), value(to))
	return d.found
}

// value returns an untyped nil for a missing object.
func value(o map[string]any) any {
	if o == nil {
		return nil
	}
	return o
}

// listKeys identify the elements of lists, in this order of preference.
var listKeys = []string{"name", "type", "uid", "containerPort", "ip", "mountPath", "topologyKey", "key"}

// elementKey returns the field that identifies each element of a list, "" without one.
func elementKey(list []any) string {
	for _, key := range listKeys {
		seen := map[string]bool{}
		for _, v := range list {
			if s := elementStep(v, key); s.Value != "" {
				seen[s.Value] = true
			}
		}
		if len(list) > 0 && len(seen) == len(list) {
			return key
		}
	}
	return ""
}

// Elements returns the steps to the elements of a list, nil for a list that is one field.
func Elements(list []any) (steps []Step) {
	key := elementKey(list)
	if key == "" {
		return nil
	}
	for _, v := range list {
		steps = append(steps, elementStep(v, key))
	}
	return steps
}

// elementStep returns the step to an element, whose Value is "" if the element has no such key.
func elementStep(element any, key string) Step {
	o, _ := element.(map[string]any)
	switch v := o[key].(type) {
	case string:
		return Step{Key: key, Value: v}
	case int64, float64:
		return Step{Key: key, Value: fmt.Sprint(v)}
	}
	return Step{Key: key}
}

// ignored reports whether a field does not count, since each write changes it.
func ignored(p FieldPath) bool {
	return len(p) == 2 && (p.Under("metadata", "managedFields") || p.Under("metadata", "resourceVersion"))
}

type differ struct{ found []Change }

func (d *differ) compare(p FieldPath, from, to any) {
	if ignored(p) {
		return
	}
	fromMap, fromIs := from.(map[string]any)
	toMap, toIs := to.(map[string]any)
	fromList, fromLists := from.([]any)
	toList, toLists := to.([]any)
	switch {
	case (fromIs || from == nil) && (toIs || to == nil) && len(fromMap)+len(toMap) > 0:
		d.fields(p, fromMap, toMap)
	case (fromLists || from == nil) && (toLists || to == nil) && d.elements(p, fromList, toList):
	case !reflect.DeepEqual(from, to):
		d.found = append(d.found, Change{p, from, to})
	}
}

func (d *differ) fields(p FieldPath, from, to map[string]any) {
	names := slices.Collect(maps.Keys(from))
	for name := range to {
		if _, ok := from[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		d.compare(p.Field(name), from[name], to[name])
	}
}

// elements compares two lists by the key of their elements; false if no element of one is in the other.
func (d *differ) elements(p FieldPath, from, to []any) bool {
	key := elementKey(from)
	if len(from) == 0 {
		key = elementKey(to)
	}
	if key == "" || len(to) > 0 && elementKey(to) != key {
		return false
	}
	old, now := map[string]any{}, map[string]any{}
	var order []Step
	for _, v := range from {
		s := elementStep(v, key)
		old[s.Value], order = v, append(order, s)
	}
	for _, v := range to {
		s := elementStep(v, key)
		if now[s.Value] = v; old[s.Value] == nil {
			order = append(order, s)
		}
	}
	for _, s := range order {
		d.compare(p.Element(s), old[s.Value], now[s.Value])
	}
	return true
}
