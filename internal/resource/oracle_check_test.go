package resource_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// A violation is a change of the valid object that violates a tag, and the error that must result.
type violation struct {
	change map[string]any // path to value
	path   string
	types  []field.ErrorType
	within bool // the error may also be about a part of the value, or about the value of which it is a part
	update bool
}

// check checks a tag at a site, if it can be violated there.
func (o *oracle) check(t *testing.T, v *valid, s site, g tag) {
	if g.gate != "" && gates[g.gate] != g.enabled {
		return
	}
	key := s.id + " " + g.text
	if typ := elem(s.typ); len(o.tags[typ.PkgPath()][typ.Name()][""]) > 0 && slices.ContainsFunc(o.tags[typ.PkgPath()][typ.Name()][""], func(t tag) bool { return t.text == g.text }) {
		key = strings.TrimPrefix(typ.PkgPath(), "k8s.io/api/") + "." + typ.Name() + " " + g.text
	}
	if g.subfield != "" {
		s = site{id: s.id, path: join(s.path, g.subfield), parent: s.path, value: asMap(s.value)[g.subfield], typ: reflect.TypeFor[string]()}
	}
	if g.name == "optional" || g.name == "listType" && g.arg == "atomic" {
		o.checkOptional(t, v, s, g, key)
		return
	}
	for _, w := range o.violations(s, g) {
		o.checked[key]++
		if got, ok := v.has(t, w, strings.HasPrefix(s.path, "status")); !ok {
			o.failed[key] = append(o.failed[key], fmt.Sprintf("%s: %v gives no %v at %s, but %v", v.name, asJSON(w.change), w.types, w.path, got))
		}
	}
}

// checkOptional requires that no error calls an unset field required. A list of any items passes if it is atomic.
func (o *oracle) checkOptional(t *testing.T, v *valid, s site, g tag, key string) {
	o.checked[key]++
	depends := func(t tag) bool { return t.mode != "" || t.name == "unionMember" }
	if s.value == nil || g.name == "listType" || slices.ContainsFunc(s.tags, depends) {
		return // the valid object does without, or has a list
	}
	w := violation{change: map[string]any{s.path: nil}, path: s.path, types: []field.ErrorType{field.ErrorTypeRequired}}
	if _, wrong := v.has(t, w, strings.HasPrefix(s.path, "status")); wrong {
		o.failed[key] = append(o.failed[key], fmt.Sprintf("%s: %s is required", v.name, s.path))
	}
}

// has reports whether the violation gives its error, and returns the errors that there are.
func (v *valid) has(t *testing.T, w violation, status bool) (field.ErrorList, bool) {
	change := asJSON(w.change)
	var errs field.ErrorList
	switch {
	case status:
		errs = append(v.kind.StatusErrors(t, change), v.kind.FirstStatusErrors(t, change)...)
	case w.update:
		errs = v.kind.UpdateErrors(t, change)
	default:
		errs = v.kind.CreateErrors(t, change)
	}
	return errs, slices.ContainsFunc(errs, func(err *field.Error) bool {
		at := err.Field == w.path || w.within && (strings.HasPrefix(err.Field, w.path) || strings.HasPrefix(w.path, err.Field))
		return at && slices.Contains(w.types, err.Type)
	})
}

// violations returns the violations of a tag at a site.
func (o *oracle) violations(s site, g tag) []violation {
	value := s.value
	if g.each != "" {
		return eachViolations(s, g, value)
	}
	one := func(to any, types ...field.ErrorType) []violation {
		return []violation{{change: map[string]any{s.path: to}, path: s.path, types: types}}
	}
	if value == nil && g.name != "immutable" && g.name != "update" {
		return nil
	}
	n, _ := strconv.Atoi(g.arg)
	switch g.name {
	case "required":
		return one(nil, field.ErrorTypeRequired)
	case "maxItems":
		if list := asList(value); len(list) > 0 {
			return one(slices.Repeat(list[:1], n+1), field.ErrorTypeTooMany)
		}
	case "maxLength", "maxBytes":
		return one(strings.Repeat("a", n+1), field.ErrorTypeTooLong)
	case "minimum":
		return one(n-1, field.ErrorTypeInvalid)
	case "maximum":
		return one(n+1, field.ErrorTypeInvalid)
	case "format":
		return one("-no Format!", field.ErrorTypeInvalid)
	case "enum":
		return one("NoSuchValue", field.ErrorTypeNotSupported)
	case "listType", "unique":
		if list := asList(value); len(list) > 0 {
			return []violation{{change: map[string]any{s.path: append(list[:len(list):len(list)], list[0])},
				path: fmt.Sprintf("%s[%d]", s.path, len(list)), types: []field.ErrorType{field.ErrorTypeDuplicate}}}
		}
	case "immutable", "update":
		if value == nil {
			value = o.samples[s.id]
		}
		return updateViolations(s, g, value)
	case "zeroOrOneOfMember":
		both := []any{}
		for _, item := range s.tags {
			if item.name == g.name {
				both = append(both, map[string]any{"type": item.item, "status": "True", "reason": "A"})
			}
		}
		return one(both, field.ErrorTypeInvalid)
	case "unionMember":
		return o.unionViolations(s)
	case "dependentRequired":
		return []violation{{change: map[string]any{s.path: value, join(s.parent, g.arg): nil}, path: join(s.parent, g.arg), types: []field.ErrorType{field.ErrorTypeRequired}}}
	}
	return nil
}

func eachViolations(s site, g tag, value any) []violation {
	bad, types := any("-no Format!"), []field.ErrorType{field.ErrorTypeInvalid}
	switch g.name {
	case "maxBytes", "maxLength":
		n, _ := strconv.Atoi(g.arg)
		bad, types = strings.Repeat("a", n+1), []field.ErrorType{field.ErrorTypeTooLong}
	case "enum":
		bad, types = "NoSuchValue", []field.ErrorType{field.ErrorTypeNotSupported}
	}
	if list := asList(value); len(list) > 0 && g.each == "eachVal" {
		return []violation{{change: map[string]any{s.path: []any{bad}}, path: s.path + "[0]", types: types}}
	}
	for _, v := range asMap(value) {
		return []violation{{change: map[string]any{s.path: map[string]any{bad.(string): v}}, path: s.path, types: types, within: true}}
	}
	return nil
}

// updateViolations changes a value that must not change so.
func updateViolations(s site, g tag, value any) (all []violation) {
	add := func(to any) {
		all = append(all, violation{change: map[string]any{s.path: to}, path: s.path, types: []field.ErrorType{field.ErrorTypeInvalid, field.ErrorTypeForbidden}, within: true, update: true})
	}
	set := s.value != nil
	switch {
	case g.arg == "NoSet" && !set || g.arg == "" && !set:
		if value != nil {
			add(value)
		}
	case g.arg == "NoUnset" && set:
		add(nil)
	case (g.arg == "NoModify" || g.arg == "") && set:
		add(altered(value))
	}
	return all
}

// altered returns another value of the same type.
func altered(value any) any {
	switch v := value.(type) {
	case string:
		return v + "x"
	case bool:
		return !v
	case float64:
		return v + 1
	case []any:
		return v[:max(len(v)-1, 0)]
	case map[string]any:
		out := maps.Clone(v)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if to := altered(v[key]); to != nil {
				out[key] = to
				return out
			}
		}
	}
	return nil
}

// unionViolations sets no member of a union, and two.
func (o *oracle) unionViolations(s site) (all []violation) {
	if s.value == nil {
		return nil
	}
	none := map[string]any{}
	for i := 0; i < len(s.siblings); i += 2 {
		none[s.siblings[i]] = nil
	}
	types := []field.ErrorType{field.ErrorTypeInvalid, field.ErrorTypeRequired, field.ErrorTypeForbidden}
	all = append(all, violation{change: none, path: s.parent, types: types, within: true})
	for i := 0; i < len(s.siblings); i += 2 {
		if other := o.samples[s.siblings[i+1]]; other != nil && s.siblings[i] != s.path {
			all = append(all, violation{change: map[string]any{s.siblings[i]: other}, path: s.parent, types: types, within: true})
		}
	}
	return all
}

func elem(typ reflect.Type) reflect.Type {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice && typ.Name() == "" || typ.Kind() == reflect.Map && typ.Name() == "" {
		typ = typ.Elem()
	}
	return typ
}
