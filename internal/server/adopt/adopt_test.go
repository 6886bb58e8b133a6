package adopt_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/builtin"
	"fairlead.dev/internal/server/adopt"

	"github.com/google/go-cmp/cmp"
	admissionv1beta1 "k8s.io/api/admissionregistration/v1beta1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

func row(t *testing.T, gr schema.GroupResource) *resource.Resource {
	t.Helper()
	for _, r := range builtin.Resources() {
		if r.GroupResource() == gr {
			return r
		}
	}
	t.Fatalf("no %s", gr)
	return nil
}

// asProtobuf returns an object as kube-apiserver stores it.
func asProtobuf(t *testing.T, o runtime.Object) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := protobuf.NewSerializer(resource.Scheme(), resource.Scheme()).Encode(o, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func asJSON(t *testing.T, o any) []byte {
	t.Helper()
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestProtobufIsReadAsJSON(t *testing.T) {
	pods := row(t, corev1.Resource("pods"))
	want := &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default", Labels: map[string]string{"app": "x"}},
		Spec:       corev1.PodSpec{NodeName: "n1"},
	}
	value, err := adopt.For(pods).Read(asProtobuf(t, want))
	if err != nil {
		t.Fatal(err)
	}
	pods.Strategy.Default(want)
	var got corev1.Pod
	if err := json.Unmarshal(value, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, &got); diff != "" {
		t.Error(diff)
	}
}

// TestOtherVersions reads values of a server with another storage version.
func TestOtherVersions(t *testing.T) {
	scalers := row(t, schema.GroupResource{Group: "autoscaling", Resource: "horizontalpodautoscalers"})
	half := int32(50)
	old := &autoscalingv1.HorizontalPodAutoscaler{
		TypeMeta:   metav1.TypeMeta{APIVersion: "autoscaling/v1", Kind: "HorizontalPodAutoscaler"},
		ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default"},
		Spec:       autoscalingv1.HorizontalPodAutoscalerSpec{MaxReplicas: 3, TargetCPUUtilizationPercentage: &half},
	}
	for what, value := range map[string][]byte{"JSON": asJSON(t, old), "protobuf": asProtobuf(t, old)} {
		got, err := adopt.For(scalers).Read(value)
		if err != nil || !strings.Contains(string(got), `"apiVersion":"autoscaling/v2"`) || !strings.Contains(string(got), `"averageUtilization":50`) {
			t.Errorf("%s: %s, %v", what, got, err)
		}
	}
}

// TestVersionsThatAreNotServed reads a value of a version that is served on request, and one of another group.
func TestVersionsThatAreNotServed(t *testing.T) {
	policies := row(t, schema.GroupResource{Group: "admissionregistration.k8s.io", Resource: "mutatingadmissionpolicies"})
	policy := &admissionv1beta1.MutatingAdmissionPolicy{TypeMeta: metav1.TypeMeta{APIVersion: "admissionregistration.k8s.io/v1beta1", Kind: "MutatingAdmissionPolicy"}, ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	events, shared := row(t, corev1.Resource("events")), row(t, schema.GroupResource{Group: "events.k8s.io", Resource: "events"})
	event := &eventsv1.Event{TypeMeta: metav1.TypeMeta{APIVersion: "events.k8s.io/v1", Kind: "Event"}, ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default"}, Note: "b"}
	definitions := row(t, schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"})
	definition := &apiextensionsv1beta1.CustomResourceDefinition{
		TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1beta1", Kind: "CustomResourceDefinition"}, ObjectMeta: metav1.ObjectMeta{Name: "a"},
		Spec: apiextensionsv1beta1.CustomResourceDefinitionSpec{
			Validation: &apiextensionsv1beta1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1beta1.JSONSchemaProps{Type: "object"}},
			Versions:   []apiextensionsv1beta1.CustomResourceDefinitionVersion{{Name: "v2", Served: true, Storage: true}},
		},
	}
	for _, c := range []struct {
		of    *adopt.Reader
		value runtime.Object
		want  []string
	}{
		{adopt.For(policies), policy, []string{`"apiVersion":"admissionregistration.k8s.io/v1"`}},
		{adopt.For(definitions), definition, []string{`"apiVersion":"apiextensions.k8s.io/v1"`, `{"name":"v2","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}`}},
		{adopt.For(events, shared), event, []string{`"apiVersion":"v1"`, `"message":"b"`}},
	} {
		for what, value := range map[string][]byte{"JSON": asJSON(t, c.value), "protobuf": asProtobuf(t, c.value)} {
			got, err := c.of.Read(value)
			for _, want := range c.want {
				if err != nil || !strings.Contains(string(got), want) {
					t.Errorf("%s: %s, %v, want %s", what, got, err, want)
				}
			}
		}
	}
}

func TestUnreadable(t *testing.T) {
	deployments := row(t, schema.GroupResource{Group: "apps", Resource: "deployments"})
	set := &appsv1.ReplicaSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ReplicaSet"}}
	for value, want := range map[string]string{
		"k8s:enc:aescbc:v1:key1:x": "identity transformer tried to read encrypted data",
		"k8s\x00\n\x00":            "",
		"garbage{":                 "json parse error",
		"":                         "json parse error",
		`{"metadata":{}}`:          "'Kind' is missing",
		`{"kind":"Deployment","apiVersion":"apps/v9"}`: `no kind "Deployment" is registered for version "apps/v9"`,
		string(asJSON(t, set)):                         "apps/v1, Kind=ReplicaSet is stored where apps/v1, Kind=Deployment should be",
		string(asProtobuf(t, set)):                     "apps/v1, Kind=ReplicaSet is stored where apps/v1, Kind=Deployment should be",
	} {
		got, err := adopt.For(deployments).Read([]byte(value))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q, %v, want an error with %q", value, got, err, want)
		}
	}
	in := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"}}`
	if got, err := adopt.For(deployments).Read([]byte(in)); err != nil || string(got) != in {
		t.Errorf("JSON of the stored version became %q, %v", got, err)
	}
}
