package validatingadmissionpolicystatus_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

// TestWarnings compares the warnings for each policy of testdata with those that kube-controller-manager 1.36.3
// wrote, with a kube-apiserver of its version.
func TestWarnings(t *testing.T) {
	env := testenv.New(t, testenv.Options{NoScheduler: true, NoNodes: true})
	c := env.Client(t)
	file, err := os.ReadFile("testdata/policies.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range bytes.Split(file, []byte("---\n")) {
		obj := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(text, obj); err != nil {
			t.Fatal(err)
		}
		m, err := c.Mapping(t.Context(), obj.GroupVersionKind())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Dynamic(c, m.GVR, m.Namespaced).Create(t.Context(), obj); err != nil {
			t.Fatalf("%s: %v", obj.GetName(), err)
		}
	}
	var want map[string][]admissionv1.ExpressionWarning
	if file, err = os.ReadFile("testdata/warnings.json"); err == nil {
		err = json.Unmarshal(file, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	policies := client.For[*admissionv1.ValidatingAdmissionPolicy](c)
	for name, warnings := range want {
		waittest.One(t, policies, name, "its check", func(p *admissionv1.ValidatingAdmissionPolicy) bool {
			return p.Status.ObservedGeneration == 1
		})
		p, err := policies.Get(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Status.TypeChecking; got == nil || !slices.Equal(got.ExpressionWarnings, warnings) {
			t.Errorf("%s: got %+v\nwant %+v", name, got, warnings)
		}
	}

	// Another generation is checked again.
	if _, err := policies.Patch(t.Context(), "good", client.JSONPatch([]map[string]any{
		{"op": "replace", "path": "/spec/validations/0/expression", "value": "object.spec.replica > 1"},
	})); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, policies, "good", "a warning", func(p *admissionv1.ValidatingAdmissionPolicy) bool {
		return p.Status.ObservedGeneration == 2 && p.Status.TypeChecking != nil && len(p.Status.TypeChecking.ExpressionWarnings) == 1
	})
	// Valid again, without warnings; as in kube-apiserver, that apply removes typeChecking, a map that has lost its
	// only member.
	if _, err := policies.Patch(t.Context(), "good", client.JSONPatch([]map[string]any{
		{"op": "replace", "path": "/spec/validations/0/expression", "value": "object.spec.replicas > 1"},
	})); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, policies, "good", "no warning", func(p *admissionv1.ValidatingAdmissionPolicy) bool {
		return p.Status.ObservedGeneration == 3 && p.Status.TypeChecking == nil
	})
}
