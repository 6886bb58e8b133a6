package builtin_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/builtin"
)

// rowOf is the row of the table that serves the kind.
func rowOf(t *testing.T, gvk schema.GroupVersionKind) *resource.Resource {
	t.Helper()
	for _, r := range builtin.Resources() {
		if r.Kind == gvk.Kind && r.Group == gvk.Group && r.Version(gvk.Version) != nil {
			return r
		}
	}
	t.Fatalf("no row for %v", gvk)
	return nil
}

// object reads YAML as the kind that it names.
func object(t *testing.T, text string) (*resource.Resource, resource.Object) {
	t.Helper()
	var head struct{ APIVersion, Kind string }
	if err := yaml.Unmarshal([]byte(text), &head); err != nil {
		t.Fatal(err)
	}
	gvk := schema.FromAPIVersionAndKind(head.APIVersion, head.Kind)
	r := rowOf(t, gvk)
	obj := r.Version(gvk.Version).New()
	if err := yaml.UnmarshalStrict([]byte(text), obj); err != nil {
		t.Fatal(err)
	}
	return r, obj.(resource.Object)
}

// defaulted is the object with its defaults.
func defaulted(t *testing.T, text string) (*resource.Resource, resource.Object) {
	t.Helper()
	r, obj := object(t, text)
	if r.Strategy.Default != nil {
		r.Strategy.Default(obj)
	}
	return r, obj
}

// wide returns the row's cells as kubectl -o wide aligns them.
func wide(t *testing.T, text string) string {
	t.Helper()
	r, obj := object(t, text)
	cells := r.Row(obj)
	words := make([]string, len(cells))
	for i, c := range cells {
		words[i] = fmt.Sprint(c)
	}
	return strings.Join(words, "  ")
}

func lines(faults field.ErrorList) []string {
	var all []string
	for _, f := range faults {
		all = append(all, f.Error())
	}
	return all
}
