package resource_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/builtin"
	"fairlead.dev/internal/resource/resourcetest"
)

// TestValidationTags holds our rules against the validation tags in the sources of k8s.io/api, from which upstream
// generates a part of its own rules. For each tag of a field of a stored kind, a valid object of the kind is changed so
// that just this field violates the tag: then there must be an error of the tag's type at the path of the field.
//
// The valid objects are in testdata/oracle.yaml. A tag that is not checked there has a reason in one of the tables of
// oracle_reasons_test.go.
func TestValidationTags(t *testing.T) {
	o := &oracle{tags: readTags(t), seen: map[string]bool{}, checked: map[string]int{}, failed: map[string][]string{}, samples: map[string]any{}}
	for _, r := range builtin.Resources() {
		if !r.Virtual && !r.SharesStorage {
			obj, err := resource.Scheme().New(r.StorageGVK())
			if err != nil {
				t.Fatal(err)
			}
			o.packages = append(o.packages, reflect.TypeOf(obj).Elem().PkgPath())
		}
	}
	objects := o.objects(t)
	for _, v := range objects {
		v.walk(o, v.root.Elem(), "", v.whole, func(s site) { o.sample(s) })
	}
	for _, v := range objects {
		v.sound(t)
		v.walk(o, v.root.Elem(), "", v.whole, func(s site) {
			for _, tag := range s.tags {
				o.check(t, v, s, tag)
			}
		})
	}
	o.report(t)
}

type oracle struct {
	tags     map[string]apiTypes
	packages []string            // of stored kinds
	seen     map[string]bool     // tags that a walk has come to
	checked  map[string]int      // tags and in how many places they were checked
	failed   map[string][]string // tags and the places where our rules do not honour them
	samples  map[string]any      // a valid value of each field
}

// A valid is a valid object in which tags are checked.
type valid struct {
	kind  *resourcetest.Kind
	name  string
	root  reflect.Type
	whole any // as JSON
}

// A site is a field of a valid object. The tags of the field's type hold for its value.
type site struct {
	id, path string // such as core/v1.PodSpec.NodeName and spec.nodeName
	parent   string
	value    any // as JSON; nil if unset
	typ      reflect.Type
	siblings []string // paths and ids of the other members of the union, if it is a member
	tags     []tag
}

func (o *oracle) objects(t *testing.T) (all []*valid) {
	t.Helper()
	text, err := os.ReadFile("testdata/oracle.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rows := builtin.Resources()
	for _, doc := range strings.Split(string(text), "\n---\n") {
		k := resourcetest.New(t, rows, doc)
		v := &valid{kind: k}
		obj := k.Object(t)
		v.root = reflect.TypeOf(obj)
		v.name = fmt.Sprintf("%s %s", v.root.Elem().Name(), obj.GetName())
		if err := yaml.Unmarshal([]byte(doc), &v.whole); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

// sound requires that the object is valid.
func (v *valid) sound(t *testing.T) {
	t.Helper()
	for _, errs := range []field.ErrorList{v.kind.CreateErrors(t, ""), v.kind.UpdateErrors(t, ""), v.kind.StatusErrors(t, "")} {
		for _, err := range errs {
			t.Errorf("%s: the valid object: %v", v.name, err)
		}
	}
}

// walk calls f for each field with tags in the value, and for unset fields of it.
func (v *valid) walk(o *oracle, typ reflect.Type, path string, value any, f func(site)) {
	if value == nil {
		return
	}
	switch typ.Kind() {
	case reflect.Pointer:
		v.walk(o, typ.Elem(), path, value, f)
	case reflect.Slice:
		for i, e := range asList(value) {
			v.walk(o, typ.Elem(), fmt.Sprintf("%s[%d]", path, i), e, f)
		}
	case reflect.Map:
		for _, key := range slices.Sorted(maps.Keys(asMap(value))) {
			v.walk(o, typ.Elem(), fmt.Sprintf("%s[%s]", path, key), asMap(value)[key], f)
		}
	case reflect.Struct:
		v.walkStruct(o, typ, path, value, f)
	}
}

func (v *valid) walkStruct(o *oracle, typ reflect.Type, path string, value any, f func(site)) {
	members, ok := value.(map[string]any)
	if !ok { // a quantity, a time: no fields of the API
		return
	}
	tags := o.tags[typ.PkgPath()][typ.Name()]
	union := unionMembers(typ, path, tags)
	for i := range typ.NumField() {
		member := typ.Field(i)
		name, _, _ := strings.Cut(member.Tag.Get("json"), ",")
		if name == "" && member.Anonymous { // inline
			v.walk(o, member.Type, path, value, f)
			continue
		}
		s := site{id: id(typ, member.Name), path: join(path, name), parent: path, value: members[name], typ: member.Type}
		s.tags = slices.Concat(tags[member.Name], o.typeTags(member.Type))
		if slices.ContainsFunc(s.tags, func(t tag) bool { return t.name == "unionMember" }) {
			s.siblings = union
		}
		if len(s.tags) > 0 {
			f(s)
		}
		v.walk(o, member.Type, s.path, s.value, f)
	}
}

// unionMembers returns the paths and ids of the members of the union in a struct, alternating.
func unionMembers(typ reflect.Type, path string, tags map[string][]tag) (all []string) {
	for i := range typ.NumField() {
		member := typ.Field(i)
		if slices.ContainsFunc(tags[member.Name], func(t tag) bool { return t.name == "unionMember" }) {
			name, _, _ := strings.Cut(member.Tag.Get("json"), ",")
			all = append(all, join(path, name), id(typ, member.Name))
		}
	}
	return all
}

// typeTags returns the tags of a type that is not a struct, such as an enumeration.
func (o *oracle) typeTags(typ reflect.Type) []tag {
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if typ.Kind() == reflect.Struct {
		return nil
	}
	if typ.Kind() == reflect.Slice || typ.Kind() == reflect.Map {
		var all []tag
		for _, tag := range o.tags[typ.Elem().PkgPath()][typ.Elem().Name()][""] {
			if typ.Elem().Kind() != reflect.Struct {
				tag.each = "eachVal"
				all = append(all, tag)
			}
		}
		return all
	}
	return o.tags[typ.PkgPath()][typ.Name()][""]
}

func (o *oracle) sample(s site) {
	if s.value != nil && o.samples[s.id] == nil {
		o.samples[s.id] = s.value
	}
}

// report compares the tags that were checked with those in the sources of the stored kinds.
func (o *oracle) report(t *testing.T) {
	counts := map[string]int{}
	for pkg, types := range o.tags {
		_, skipped := otherPackages[strings.TrimPrefix(pkg, "k8s.io/api/")]
		if stored := slices.Contains(o.packages, pkg); stored == skipped && hasTags(types) {
			t.Errorf("package %s: stored kinds %v, reason for no checks %v", pkg, stored, skipped)
		}
		if skipped {
			continue
		}
		for typ, fields := range types {
			for name, tags := range fields {
				for _, tag := range tags {
					key := strings.TrimSuffix(strings.TrimPrefix(pkg, "k8s.io/api/")+"."+typ+"."+name, ".") + " " + tag.text
					counts[o.outcome(t, key, tag)]++
				}
			}
		}
	}
	for key := range reasons {
		if !o.seen[key] {
			t.Errorf("%s: a reason, but no such tag", key)
		}
	}
	for _, outcome := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%4d %s", counts[outcome], outcome)
	}
}

// outcome reports a tag that is neither honoured nor excused.
func (o *oracle) outcome(t *testing.T, key string, tag tag) string {
	o.seen[key] = true
	why, excused := reasons[key]
	if !excused {
		typ, _, _ := strings.Cut(key, " ")
		why, excused = reasons[typ[:strings.LastIndexByte(typ, '.')]]
		o.seen[typ[:strings.LastIndexByte(typ, '.')]] = true
	}
	if g, known := gates[tag.gate]; tag.gate != "" && !known {
		t.Errorf("%s: unknown feature gate", key)
	} else if tag.gate != "" && g != tag.enabled {
		return fmt.Sprintf("%s: the feature gate %s is %s", tag.name, tag.gate, map[bool]string{true: "on", false: "off"}[g])
	}
	switch {
	case len(o.failed[key]) > 0 && !excused:
		t.Errorf("%s:\n\t%s", key, strings.Join(o.failed[key], "\n\t"))
	case o.checked[key] > 0 && len(o.failed[key]) == 0:
		if _, superfluous := reasons[key]; superfluous {
			t.Errorf("%s: it is honoured and needs no reason", key)
		}
		return tag.name + ": checked"
	case !excused:
		t.Errorf("%s: not checked: add it to an object in testdata/oracle.yaml, or a reason", key)
	}
	return tag.name + ": " + why
}

func hasTags(types apiTypes) bool {
	for _, fields := range types {
		for _, tags := range fields {
			if len(tags) > 0 {
				return true
			}
		}
	}
	return false
}

func id(typ reflect.Type, name string) string {
	return strings.TrimPrefix(typ.PkgPath(), "k8s.io/api/") + "." + typ.Name() + "." + name
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}

func asMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
