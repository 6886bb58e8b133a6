package builtin_test

import (
	"encoding/json"
	"math/rand"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"sigs.k8s.io/randfill"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/builtin"
	"fairlead.dev/internal/resource/metrics"
)

// filler makes random objects. It is the same for every run.
func filler() *randfill.Filler {
	return fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(1), serializer.NewCodecFactory(resource.Scheme())).NilChance(0.3).MaxDepth(12)
}

// stored returns a random object of the resource's storage version.
func stored(t *testing.T, r *resource.Resource, f *randfill.Filler) runtime.Object {
	t.Helper()
	obj, err := resource.Scheme().New(r.StorageGVK())
	if err != nil {
		t.Fatal(err)
	}
	f.Fill(obj)
	obj.GetObjectKind().SetGroupVersionKind(r.StorageGVK())
	return obj
}

func TestTableNamesEachResourceOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range builtin.Resources() {
		for _, v := range r.Versions {
			key := r.GVR(v.Name).String()
			if seen[key] {
				t.Errorf("%s is in the table twice", key)
			}
			seen[key] = true
			got := v.New()
			kinds, _, err := resource.Scheme().ObjectKinds(got)
			if err != nil || kinds[0] != r.GVK(v.Name) {
				t.Errorf("%s: New makes %v (%v), want %v", key, kinds, err, r.GVK(v.Name))
			}
			if v.NewList != nil {
				kinds, _, err := resource.Scheme().ObjectKinds(v.NewList())
				if err != nil || kinds[0].Kind != r.ListKind() {
					t.Errorf("%s: NewList makes %v (%v), want %s", key, kinds, err, r.ListKind())
				}
			}
		}
		if r.Version(r.StorageVersion) == nil && !r.SharesStorage {
			t.Errorf("%s: storage version %s is not served", r.Plural, r.StorageVersion)
		}
		if r.Virtual != (r.StoragePrefix == "") || !r.Virtual && !strings.HasPrefix(r.StoragePrefix, "/registry/") {
			t.Errorf("%s: storage prefix %q", r.Plural, r.StoragePrefix)
		}
	}
}

// goneBefore reports whether a version of a kind is not in Kubernetes 1.35 any more.
func goneBefore(obj runtime.Object) bool {
	lived, ok := obj.(interface{ APILifecycleRemoved() (major, minor int) })
	if !ok {
		return false
	}
	major, minor := lived.APILifecycleRemoved()
	return major == 1 && minor < 35
}

// Every kind that the groups register as an object of its own has a row.
func TestTableIsComplete(t *testing.T) {
	have := map[string]bool{}
	for _, r := range append(builtin.All(), metrics.Resources()...) { // the latter where there are nodes to measure
		for _, v := range r.Versions {
			have[r.GVK(v.Name).String()] = true
		}
		for _, s := range r.Subresources {
			have[r.GVK(r.StorageVersion).GroupVersion().WithKind(s.Kind).String()] = true
			if s.Version != "" {
				have["/"+s.Kind+s.Group] = true
			}
		}
	}
	// Kinds that are bodies of requests, not resources, and others that are not served.
	bodies := map[string]bool{
		"AdmissionReview": true, "Scale": true, "TokenRequest": true, "Eviction": true,
		"SerializedReference": true, "RangeAllocation": true,
	}
	for gvk := range resource.Scheme().AllKnownTypes() {
		_, listed := resource.Scheme().AllKnownTypes()[gvk.GroupVersion().WithKind(gvk.Kind+"List")]
		obj, err := resource.Scheme().New(gvk)
		if err != nil {
			t.Fatal(err)
		}
		_, named := obj.(metav1.Object)
		if !named || bodies[gvk.Kind] || goneBefore(obj) || gvk.Group == "meta.k8s.io" || have[gvk.String()] {
			continue
		}
		t.Errorf("%v (listed: %v) has no row", gvk, listed)
	}
}

func TestRowsHaveOneCellPerColumn(t *testing.T) {
	f := filler()
	for _, r := range builtin.Resources() {
		if r.Virtual && r.Row == nil {
			continue
		}
		if len(r.Columns) == 0 || r.Row == nil {
			t.Errorf("%s has no table", r.Plural)
			continue
		}
		empty, err := resource.Scheme().New(r.StorageGVK())
		if err != nil {
			t.Fatal(err)
		}
		objects := []runtime.Object{empty}
		for range 20 {
			objects = append(objects, stored(t, r, f))
		}
		for _, obj := range objects {
			if cells := r.Row(obj); len(cells) != len(r.Columns) {
				t.Fatalf("%s: %d cells in %d columns", r.Plural, len(cells), len(r.Columns))
			} else if _, err := json.Marshal(cells); err != nil {
				t.Fatalf("%s: %v", r.Plural, err)
			}
		}
	}
}

func TestDefaultsAreIdempotent(t *testing.T) {
	f := filler()
	for _, r := range builtin.Resources() {
		if r.Strategy.Default == nil {
			continue
		}
		for range 30 {
			once := stored(t, r, f)
			r.Strategy.Default(once)
			twice := once.DeepCopyObject()
			r.Strategy.Default(twice)
			if !apiequality.Semantic.DeepEqual(once, twice) {
				t.Errorf("%s: a second default changes it:\n%s", r.Plural, cmp.Diff(asJSON(t, once), asJSON(t, twice)))
				break
			}
		}
	}
}

// Strategies must not panic on any object, and validation must not modify it.
func TestStrategiesTakeAnyObject(t *testing.T) {
	f := filler()
	for _, r := range builtin.Resources() {
		if r.Virtual {
			continue
		}
		s := &r.Strategy
		for i := range 30 {
			obj, old := stored(t, r, f), stored(t, r, f)
			if i%2 == 0 && s.Default != nil {
				s.Default(obj)
				s.Default(old)
			}
			if i%3 == 0 {
				obj, _ = resource.Scheme().New(r.StorageGVK())
			}
			if s.PrepareForCreate != nil {
				s.PrepareForCreate(obj.DeepCopyObject())
			}
			before := obj.DeepCopyObject()
			if s.Validate != nil {
				s.Validate(obj)
			}
			if s.Warnings != nil {
				s.Warnings(obj)
			}
			if s.ValidateUpdate != nil {
				s.ValidateUpdate(obj, old)
			}
			if s.ValidateStatusUpdate != nil {
				s.ValidateStatusUpdate(obj, old)
			}
			for _, sub := range r.Subresources {
				if sub.ValidateUpdate != nil {
					sub.ValidateUpdate(obj, old)
				}
			}
			if !apiequality.Semantic.DeepEqual(before, obj) {
				t.Errorf("%s: validation changes the object", r.Plural)
			}
			if s.PrepareForUpdate != nil {
				s.PrepareForUpdate(obj.DeepCopyObject(), old)
			}
			if s.PrepareForStatusUpdate != nil {
				s.PrepareForStatusUpdate(obj.DeepCopyObject(), old)
			}
			for _, sub := range r.Subresources {
				if sub.PrepareForUpdate != nil {
					sub.PrepareForUpdate(obj.DeepCopyObject(), old)
				}
			}
		}
	}
}

// A write of the status leaves the spec, and a write of the object the status.
func TestSpecAndStatusAreApart(t *testing.T) {
	f := filler()
	for _, r := range builtin.Resources() {
		if r.Subresource("status") == nil {
			continue
		}
		obj, old := stored(t, r, f), stored(t, r, f)
		updated, reported := obj.DeepCopyObject(), obj.DeepCopyObject()
		r.Strategy.PrepareForUpdate(updated, old)
		r.Strategy.PrepareForStatusUpdate(reported, old)
		if d := cmp.Diff(part(t, old, "status"), part(t, updated, "status")); d != "" && r.Plural != "services" {
			t.Errorf("%s: an update changes the status:\n%s", r.Plural, d)
		}
		if d := cmp.Diff(part(t, old, "spec"), part(t, reported, "spec")); d != "" {
			t.Errorf("%s: a status update changes the spec:\n%s", r.Plural, d)
		}
	}
}

func TestVersionsKeepTheirMeaning(t *testing.T) {
	f := filler()
	for _, r := range builtin.All() {
		for _, v := range r.Versions {
			if v.ToStorage == nil {
				continue
			}
			for range 20 {
				obj := stored(t, r, f)
				if r.Strategy.Default != nil {
					r.Strategy.Default(obj)
				}
				shown, err := v.FromStorage(obj)
				if err != nil {
					t.Fatal(err)
				}
				back, err := v.ToStorage(shown)
				if err != nil {
					t.Fatal(err)
				}
				again, err := v.FromStorage(back)
				if err != nil {
					t.Fatal(err)
				}
				before, after := asJSON(t, obj), asJSON(t, back)
				delete(before, "apiVersion")
				delete(after, "apiVersion")
				delete(before, "kind")
				delete(after, "kind")
				// A request of no kind, which is invalid, and allNodes: false have no form in resource.k8s.io/v1beta1.
				whole := v.OnRequest && (v.Name != "v1beta1" || r.Group != "resource.k8s.io")
				if d := cmp.Diff(before, after); whole && d != "" {
					t.Fatalf("%s %s: a round trip through it changes the object:\n%s", r.Plural, v.Name, d)
				}
				if d := cmp.Diff(asJSON(t, shown), asJSON(t, again)); d != "" {
					t.Fatalf("%s %s: a round trip changes it:\n%s", r.Plural, v.Name, d)
				}
			}
		}
	}
}

func asJSON(t *testing.T, v any) map[string]any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func part(t *testing.T, obj any, name string) any { return asJSON(t, obj)[name] }
