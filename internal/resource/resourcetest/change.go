package resourcetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// Change applies a change to an object in YAML and returns the result as JSON. A change is a YAML map of paths to their
// new values, such as
//
//	spec.replicas: 3
//	spec.template.spec.containers[0].image: ~
//	metadata.annotations[example.com/a]: b
//
// Null removes the member or element. An index that is the length of the list appends. Missing parents are added.
func Change(object, change string) ([]byte, error) {
	var whole any
	if err := yaml.Unmarshal([]byte(object), &whole); err != nil {
		return nil, err
	}
	values := map[string]any{}
	if err := yaml.Unmarshal([]byte(change), &values); err != nil {
		return nil, err
	}
	for _, path := range slices.Sorted(maps.Keys(values)) {
		var err error
		if whole, err = set(whole, split(path), values[path]); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return json.Marshal(whole)
}

// split cuts a path into its parts: "a.b[0].c[d.e/f]" into a, b, 0, c and d.e/f.
func split(path string) []string {
	var parts []string
	for path != "" {
		if rest, ok := strings.CutPrefix(path, "["); ok {
			part, after, _ := strings.Cut(rest, "]")
			parts, path = append(parts, part), strings.TrimPrefix(after, ".")
			continue
		}
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			return append(parts, path)
		}
		parts, path = append(parts, path[:end]), strings.TrimPrefix(path[end:], ".")
	}
	return parts
}

// set returns the value with another value below it, at the path.
func set(in any, path []string, value any) (any, error) {
	if len(path) == 0 {
		return value, nil
	}
	if list, ok := in.([]any); ok {
		return setElement(list, path, value)
	}
	m, ok := in.(map[string]any)
	if !ok {
		if in != nil {
			return nil, fmt.Errorf("no %q below %v", path[0], in)
		}
		m = map[string]any{}
	}
	if i, err := strconv.Atoi(path[0]); in == nil && err == nil && i == 0 {
		return setElement(nil, path, value)
	}
	below, err := set(m[path[0]], path[1:], value)
	if err != nil {
		return nil, err
	}
	if m[path[0]] = below; below == nil {
		delete(m, path[0])
	}
	return m, nil
}

func setElement(list []any, path []string, value any) (any, error) {
	i, err := strconv.Atoi(path[0])
	if err != nil || i < 0 || i > len(list) {
		return nil, fmt.Errorf("no element %s in a list of %d", path[0], len(list))
	}
	if i == len(list) {
		list = append(list, nil)
	}
	below, err := set(list[i], path[1:], value)
	if err != nil {
		return nil, err
	}
	if list[i] = below; below == nil {
		return slices.Delete(list, i, i+1), nil
	}
	return list, nil
}

// get returns the value at the path, or nil.
func get(in any, path []string) any {
	for _, part := range path {
		switch v := in.(type) {
		case map[string]any:
			in = v[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			in = v[i]
		default:
			return nil
		}
	}
	return in
}
