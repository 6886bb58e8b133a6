package main

import (
	"encoding/json"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// webhooks serves the webhooks of config/webhooks.yaml.
func webhooks() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/default", review(setDefaults))
	mux.Handle("/validate", review(validate))
	return mux
}

// setDefaults names the Secret after the ConfigMap.
func setDefaults(m, _ *Mirror) (patch []byte, err error) {
	if m.Spec.Secret != "" {
		return nil, nil
	}
	return json.Marshal([]map[string]string{{"op": "add", "path": "/spec/secret", "value": m.Spec.ConfigMap}})
}

// validate checks the Secret's name, and that it stays the same. old is nil for a new Mirror.
func validate(m, old *Mirror) (patch []byte, err error) {
	if wrong := validation.IsDNS1123Subdomain(m.Spec.Secret); len(wrong) > 0 {
		return nil, fmt.Errorf("spec.secret: %s", wrong[0])
	}
	if old != nil && old.Spec.Secret != m.Spec.Secret {
		return nil, fmt.Errorf("spec.secret: it is %q and cannot be changed", old.Spec.Secret)
	}
	return nil, nil
}

// review answers AdmissionReviews by a function that returns a JSON patch, or the reason to reject the Mirror.
func review(decide func(m, old *Mirror) (patch []byte, err error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
			http.Error(w, "no AdmissionReview", http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID}
		patch, err := decideRaw(review.Request, decide)
		if err != nil {
			review.Response.Result = &metav1.Status{Message: err.Error()}
		}
		review.Response.Allowed = err == nil
		if patch != nil {
			patchType := admissionv1.PatchTypeJSONPatch
			review.Response.Patch, review.Response.PatchType = patch, &patchType
		}
		review.Request = nil
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(review) // fails if the API server has gone
	})
}

func decideRaw(q *admissionv1.AdmissionRequest, decide func(m, old *Mirror) ([]byte, error)) ([]byte, error) {
	var m, old *Mirror
	if err := json.Unmarshal(q.Object.Raw, &m); err != nil {
		return nil, err
	}
	if len(q.OldObject.Raw) > 0 {
		if err := json.Unmarshal(q.OldObject.Raw, &old); err != nil {
			return nil, err
		}
	}
	return decide(m, old)
}
