package webhook

import (
	"bytes"
	"fmt"
	"sync"

	reviewv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/yaml"
)

var reader = sync.OnceValue(func() *json.Serializer {
	s := runtime.NewScheme()
	utilruntime.Must(reviewv1.AddToScheme(s))
	s.AddUnversionedTypes(metav1.Unversioned, &metav1.Status{})
	return json.NewSerializerWithOptions(json.DefaultMetaFactory, s, s, json.SerializerOptions{})
})

// decode decodes a response, JSON or YAML, which must be of a known kind.
func decode(data []byte, into *reviewv1.AdmissionReview) error {
	if text := bytes.TrimSpace(data); len(text) > 0 && text[0] != '{' {
		var err error
		if data, err = yaml.YAMLToJSON(data); err != nil {
			return fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
		}
	}
	obj, gvk, err := reader().Decode(data, nil, into)
	if err != nil {
		return err
	}
	if obj != runtime.Object(into) {
		return fmt.Errorf("unable to decode %s into %T", gvk, into)
	}
	into.SetGroupVersionKind(*gvk)
	return nil
}

// verify returns an error if a response is malformed.
func verify(a *reviewv1.AdmissionReview, uid types.UID, mutating bool) error {
	want := reviewv1.SchemeGroupVersion.WithKind("AdmissionReview")
	r := a.Response
	switch {
	case r == nil:
		return fmt.Errorf("webhook response was absent")
	case r.UID != uid:
		return fmt.Errorf("expected response.uid=%q, got %q", uid, r.UID)
	case a.GroupVersionKind() != want:
		return fmt.Errorf("expected webhook response of %v, got %v", want, a.GroupVersionKind())
	case !mutating && len(r.Patch) > 0:
		return fmt.Errorf("validating webhook may not return response.patch")
	case !mutating && r.PatchType != nil:
		return fmt.Errorf("validating webhook may not return response.patchType")
	case len(r.Patch) > 0 && r.PatchType == nil:
		return fmt.Errorf("webhook returned response.patch but not response.patchType")
	case len(r.Patch) == 0 && r.PatchType != nil:
		return fmt.Errorf("webhook returned response.patchType but not response.patch")
	case r.PatchType != nil && *r.PatchType == "":
		return fmt.Errorf("webhook returned invalid response.patchType of %q", *r.PatchType)
	}
	return nil
}
