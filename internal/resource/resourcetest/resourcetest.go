// Package resourcetest runs table tests of the rules of a kind. A test names a valid object; each line of its table is a
// change of that object and the result that Kubernetes promises for it:
//
//	deployment := resourcetest.New(t, apps.Resources(), text)
//	deployment.Create(t, []resourcetest.Case{
//		{"negative replicas", "spec.replicas: -1",
//			"spec.replicas: Invalid value: -1: must be greater than or equal to 0"},
//	})
//
// The functions take an object through the same steps as the server, in the same order.
package resourcetest

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"fairlead.dev/internal/resource"
)

// Case is one line of a table: a name, the change of the valid object (see [Change]), and the expected results. No
// results stand for success, or for no difference.
type Case []string

func (c Case) name() string   { return c[0] }
func (c Case) change() string { return c[1] }
func (c Case) want() []string { return c[2:] }

// Kind is a kind under test with a valid object of it.
type Kind struct {
	row     *resource.Resource
	version *resource.Version
	valid   string // YAML
}

// New finds the row of the kind of a valid object.
func New(t *testing.T, rows []*resource.Resource, valid string) *Kind {
	t.Helper()
	var head struct{ APIVersion, Kind string }
	if err := yaml.Unmarshal([]byte(valid), &head); err != nil {
		t.Fatal(err)
	}
	gvk := schema.FromAPIVersionAndKind(head.APIVersion, head.Kind)
	for _, r := range rows {
		if r.Kind == gvk.Kind && r.Group == gvk.Group && r.Version(gvk.Version) != nil {
			return &Kind{row: r, version: r.Version(gvk.Version), valid: valid}
		}
	}
	t.Fatalf("no row for %v", gvk)
	return nil
}

// Object returns the valid object in the storage version.
func (k *Kind) Object(t *testing.T) resource.Object {
	t.Helper()
	return k.object(t, "", true)
}

// object returns the changed object in the storage version, with defaults unless raw is set.
func (k *Kind) object(t *testing.T, change string, raw bool) resource.Object {
	t.Helper()
	text, err := Change(k.valid, change)
	if err != nil {
		t.Fatal(err)
	}
	obj := k.version.New()
	if err := yaml.UnmarshalStrict(text, obj); err != nil {
		t.Fatal(err)
	}
	if k.version.ToStorage != nil {
		if obj, err = k.version.ToStorage(obj); err != nil {
			t.Fatal(err)
		}
	}
	if k.row.Strategy.Default != nil && !raw {
		k.row.Strategy.Default(obj)
	}
	return obj.(resource.Object)
}

// created returns the changed object as a create stores it, without validation.
func (k *Kind) created(t *testing.T, change string) resource.Object {
	t.Helper()
	obj := k.object(t, change, false)
	if k.row.Strategy.PrepareForCreate != nil {
		k.row.Strategy.PrepareForCreate(obj)
	}
	return obj
}

// updated returns the changed object and the stored one, as an update sees them before validation.
func (k *Kind) updated(t *testing.T, change string) (obj, old resource.Object) {
	t.Helper()
	old, obj = k.created(t, ""), k.object(t, change, false)
	stored(old)
	if obj.GetResourceVersion() == "" {
		stored(obj)
	}
	if k.row.Strategy.PrepareForUpdate != nil {
		k.row.Strategy.PrepareForUpdate(obj, old)
	}
	return obj, old
}

// reported returns the changed object and the stored one, which has the status of the valid object with the change
// "was", as a write of the status sees them before validation.
func (k *Kind) reported(t *testing.T, was, change string) (obj, old resource.Object) {
	t.Helper()
	old, obj = k.object(t, was, false), k.object(t, change, false)
	stored(old)
	stored(obj)
	if k.row.Strategy.PrepareForStatusUpdate != nil {
		k.row.Strategy.PrepareForStatusUpdate(obj, old)
	}
	return obj, old
}

// stored sets the metadata of a stored object.
func stored(obj metav1.Object) {
	obj.SetResourceVersion("1")
	obj.SetUID("00000000-0000-0000-0000-000000000001")
}

// CreateErrors returns the errors of creating the changed object.
func (k *Kind) CreateErrors(t *testing.T, change string) field.ErrorList {
	t.Helper()
	return resource.ValidateNew(k.row, k.created(t, change))
}

// UpdateErrors returns the errors of changing the valid object.
func (k *Kind) UpdateErrors(t *testing.T, change string) field.ErrorList {
	t.Helper()
	obj, old := k.updated(t, change)
	errs := resource.ValidateObjectMetaUpdate(obj, old)
	if k.row.Strategy.ValidateUpdate != nil {
		errs = append(errs, k.row.Strategy.ValidateUpdate(obj, old)...)
	}
	return errs
}

// StatusErrors returns the errors of changing the status of the valid object.
func (k *Kind) StatusErrors(t *testing.T, change string) field.ErrorList {
	t.Helper()
	return k.statusErrors(t, "", change)
}

// FirstStatusErrors returns the errors of writing the first status of the valid object.
func (k *Kind) FirstStatusErrors(t *testing.T, change string) field.ErrorList {
	t.Helper()
	return k.statusErrors(t, "status: ~", change)
}

func (k *Kind) statusErrors(t *testing.T, was, change string) field.ErrorList {
	t.Helper()
	obj, old := k.reported(t, was, change)
	errs := resource.ValidateObjectMetaUpdate(obj, old)
	if k.row.Strategy.ValidateStatusUpdate != nil {
		errs = append(errs, k.row.Strategy.ValidateStatusUpdate(obj, old)...)
	}
	return errs
}

// Create checks the errors of creating the changed objects.
func (k *Kind) Create(t *testing.T, cases []Case) {
	each(t, "create", cases, func(t *testing.T, c Case) {
		same(t, lines(k.CreateErrors(t, c.change())), c.want())
	})
}

// Update checks the errors of changing the valid object.
func (k *Kind) Update(t *testing.T, cases []Case) {
	each(t, "update", cases, func(t *testing.T, c Case) {
		same(t, lines(k.UpdateErrors(t, c.change())), c.want())
	})
}

// Status checks the errors of changing the status of the valid object.
func (k *Kind) Status(t *testing.T, cases []Case) {
	each(t, "status", cases, func(t *testing.T, c Case) {
		same(t, lines(k.StatusErrors(t, c.change())), c.want())
	})
}

// Subresource checks the errors of changing the valid object by a write of a subresource with rules of its own.
func (k *Kind) Subresource(t *testing.T, name string, cases []Case) {
	i := slices.IndexFunc(k.row.Subresources, func(s resource.Subresource) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("%s has no subresource %s", k.row.Plural, name)
	}
	sub := k.row.Subresources[i]
	each(t, name, cases, func(t *testing.T, c Case) {
		old, obj := k.object(t, "", false), k.object(t, c.change(), false)
		stored(old)
		stored(obj)
		sub.PrepareForUpdate(obj, old)
		same(t, lines(sub.ValidateUpdate(obj, old)), c.want())
	})
}

// Warnings checks the warnings of creating the changed objects.
func (k *Kind) Warnings(t *testing.T, cases []Case) {
	each(t, "warnings", cases, func(t *testing.T, c Case) {
		same(t, k.row.Strategy.Warnings(k.created(t, c.change())), c.want())
	})
}

// Defaults checks values of the changed objects with their defaults. The expected results are "path: value" in YAML.
func (k *Kind) Defaults(t *testing.T, cases []Case) {
	each(t, "defaults", cases, func(t *testing.T, c Case) { has(t, k.object(t, c.change(), false), c.want()) })
}

// Created checks values of the changed objects as a create stores them.
func (k *Kind) Created(t *testing.T, cases []Case) {
	each(t, "created", cases, func(t *testing.T, c Case) { has(t, k.created(t, c.change()), c.want()) })
}

// Updated checks values of the changed objects as an update stores them.
func (k *Kind) Updated(t *testing.T, cases []Case) {
	each(t, "updated", cases, func(t *testing.T, c Case) {
		obj, _ := k.updated(t, c.change())
		has(t, obj, c.want())
	})
}

// Reported checks values of the changed objects as a write of the status stores them.
func (k *Kind) Reported(t *testing.T, cases []Case) {
	each(t, "reported", cases, func(t *testing.T, c Case) {
		obj, _ := k.reported(t, "", c.change())
		has(t, obj, c.want())
	})
}

func each(t *testing.T, group string, cases []Case, check func(*testing.T, Case)) {
	t.Helper()
	for _, c := range cases {
		t.Run(group+"/"+c.name(), func(t *testing.T) { check(t, c) })
	}
}

// has compares values of the object, as JSON, with the expected "path: value".
func has(t *testing.T, obj runtime.Object, want []string) {
	t.Helper()
	text, err := json.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	var whole any
	if err := json.Unmarshal(text, &whole); err != nil {
		t.Fatal(err)
	}
	for _, w := range want {
		values := map[string]any{}
		if err := yaml.Unmarshal([]byte(w), &values); err != nil {
			t.Fatal(err)
		}
		for path, value := range values {
			if d := cmp.Diff(value, get(whole, split(path))); d != "" {
				t.Errorf("%s: -want +got\n%s", path, d)
			}
		}
	}
}

func lines(errs field.ErrorList) []string {
	var all []string
	for _, err := range errs {
		all = append(all, err.Error())
	}
	return all
}

// same compares the results with the starts that they should have, in any order.
func same(t *testing.T, got, want []string) {
	t.Helper()
	got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("-want +got\n%s", cmp.Diff(want, got))
	}
}
