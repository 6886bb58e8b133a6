//go:build sweep

package corpus_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// mutator changes manifests at random, along the Go types of their kinds.
type mutator struct {
	*rand.Rand
	// known has the values that a server listed as supported at a path, without indices.
	known map[string][]string
	// closed has the paths that one of the servers does not support.
	closed map[string]bool
}

// untouched lists fields that identify the object or are set by the server, and owner references, whose errors are
// worded as in 1.37.
var untouched = []string{
	".apiVersion", ".kind", ".metadata.managedFields", ".metadata.uid", ".metadata.creationTimestamp", ".metadata.selfLink",
	".metadata.resourceVersion", ".metadata.deletionTimestamp", ".metadata.namespace", ".metadata.name", ".metadata.generation",
	".metadata.deletionGracePeriodSeconds", ".metadata.generateName", ".metadata.ownerReferences",
}

// later lists fields of features that are on here and off in 1.36.
var later = []string{".schedulingGroup", ".spec.preventPodSchedulingIfMissing"}

var anyText = []string{
	"", "a", "b", "Bad Name", "UPPER", "a.b", "-a", "a_b", "example.com/a", "a/b/c", "/a", "../a", "1.2.3.4", "::1", "10.0.0.0/8",
	"http", "80", "50%", "101%", "true", "a\nb", strings.Repeat("a", 64), strings.Repeat("a", 254), "*", "*.example.com", "None", "é",
}

var (
	anyNumber   = []int{0, -1, 1, 2, 5, 10, 80, 100, 101, 256, 1000, 65535, 65536, 86401, 1<<31 - 1, -5}
	anyQuantity = []string{"0", "1", "-1", "1m", "100m", "1Gi", "1500m", "1e3", "0.5", "10Ti", "1n", "abc", ""}
)

// change makes one change somewhere in a value of type t.
func (m *mutator) change(v any, t reflect.Type, path string) any {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if m.leaf(t) {
		return m.make(t, path, 2)
	}
	switch at := v.(type) {
	case tree:
		return m.changeMembers(at, t, path)
	case []any:
		return m.changeList(at, t, path)
	}
	return m.make(t, path, 2)
}

func (m *mutator) changeMembers(v tree, t reflect.Type, path string) any {
	if t.Kind() == reflect.Map {
		keys := sortedKeys(v)
		if len(keys) == 0 || m.IntN(3) == 0 {
			v[m.text(path+".key")] = m.make(t.Elem(), path+".*", 2)
			return v
		}
		k := keys[m.IntN(len(keys))]
		if m.IntN(4) == 0 {
			delete(v, k)
		} else {
			v[k] = m.change(v[k], t.Elem(), path+".*")
		}
		return v
	}
	fields := m.fields(t, path)
	if len(fields) == 0 {
		return v
	}
	f := fields[m.IntN(len(fields))]
	// Rules concern mostly fields that are present, so half of the changes go there.
	if present := slices.DeleteFunc(slices.Clone(fields), func(f member) bool { return v[f.name] == nil }); len(present) > 0 && m.IntN(2) == 0 {
		f = present[m.IntN(len(present))]
	}
	at := path + "." + f.name
	switch old, there := v[f.name]; {
	case !there:
		v[f.name] = m.make(f.typ, at, 2)
	case m.IntN(8) == 0:
		delete(v, f.name)
	case m.IntN(12) == 0:
		v[f.name] = m.make(f.typ, at, 2)
	default:
		v[f.name] = m.change(old, f.typ, at)
	}
	return v
}

func (m *mutator) changeList(v []any, t reflect.Type, path string) any {
	at := path + "[]"
	if len(v) == 0 || m.IntN(5) == 0 {
		return append(v, m.make(t.Elem(), at, 2))
	}
	i := m.IntN(len(v))
	switch m.IntN(8) {
	case 0:
		return append(v, copied(v[i]))
	case 1:
		return slices.Delete(slices.Clone(v), i, i+1)
	}
	v[i] = m.change(v[i], t.Elem(), at)
	return v
}

func copied(v any) any {
	if t, ok := v.(tree); ok {
		return clone(t)
	}
	return v
}

type member struct {
	name     string
	typ      reflect.Type
	optional bool
}

// fields returns the members of a type in JSON.
func (m *mutator) fields(t reflect.Type, path string) (out []member) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			out = append(out, m.fields(f.Type, path)...)
			continue
		}
		at := path + "." + name
		if name == "" || name == "-" || slices.Contains(untouched, at) || m.closed[at] || strings.HasSuffix(at, ".metadata.managedFields") ||
			slices.ContainsFunc(later, func(s string) bool { return strings.HasSuffix(at, s) }) {
			continue
		}
		if path == "" && name == "status" && m.IntN(6) > 0 {
			continue
		}
		out = append(out, member{name, f.Type, strings.Contains(rest, "omit")})
	}
	return out
}

// leaf reports whether a type is encoded as one value.
func (m *mutator) leaf(t reflect.Type) bool {
	switch reflect.New(t).Interface().(type) {
	case *resource.Quantity, *intstr.IntOrString, *metav1.Time, *metav1.MicroTime, *metav1.Duration, *runtime.RawExtension, *metav1.FieldsV1:
		return true
	}
	return t.Kind() != reflect.Struct && t.Kind() != reflect.Map && (t.Kind() != reflect.Slice || t.Elem().Kind() == reflect.Uint8)
}

// make returns a random value.
func (m *mutator) make(t reflect.Type, path string, depth int) any {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch reflect.New(t).Interface().(type) {
	case *resource.Quantity:
		return anyQuantity[m.IntN(len(anyQuantity))]
	case *intstr.IntOrString:
		if m.IntN(2) == 0 {
			return m.text(path)
		}
		return anyNumber[m.IntN(len(anyNumber))]
	case *metav1.Time:
		return "2024-01-02T03:04:05Z"
	case *metav1.MicroTime:
		return "2024-01-02T03:04:05.000006Z"
	case *metav1.Duration:
		return "10s"
	case *runtime.RawExtension, *metav1.FieldsV1:
		return tree{"a": "b"}
	}
	switch t.Kind() {
	case reflect.String:
		return m.text(path)
	case reflect.Bool:
		return m.IntN(2) == 0
	case reflect.Map:
		out := tree{}
		for range m.IntN(2) + 1 {
			out[m.text(path+".key")] = m.make(t.Elem(), path+".*", depth-1)
		}
		return out
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return []string{"", "YQ==", "bm90IGEgY2VydA=="}[m.IntN(3)]
		}
		out := []any{}
		for range m.IntN(3) {
			out = append(out, m.make(t.Elem(), path+"[]", depth-1))
		}
		return out
	case reflect.Struct:
		out := tree{}
		for _, f := range m.fields(t, path) {
			if !f.optional && m.IntN(8) > 0 || f.optional && depth > 0 && m.IntN(4) == 0 {
				out[f.name] = m.make(f.typ, path+"."+f.name, depth-1)
			}
		}
		return out
	}
	return anyNumber[m.IntN(len(anyNumber))]
}

func (m *mutator) text(path string) string {
	if known := m.known[path]; len(known) > 0 && m.IntN(4) > 0 {
		return known[m.IntN(len(known))]
	}
	return anyText[m.IntN(len(anyText))]
}

func sortedKeys(v tree) []string {
	var keys []string
	for k := range v {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// learn collects the strings of a manifest, which are often valid values elsewhere.
func (m *mutator) learn(v any, path string) {
	switch v := v.(type) {
	case tree:
		for k, x := range v {
			m.learn(x, path+"."+k)
		}
	case []any:
		for _, x := range v {
			m.learn(x, path+"[]")
		}
	case string:
		if !slices.Contains(m.known[path], v) {
			m.known[path] = append(m.known[path], v)
		}
	}
}
