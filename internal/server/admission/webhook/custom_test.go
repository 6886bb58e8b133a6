package webhook_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	reviewv1 "k8s.io/api/admission/v1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// definition is a kind whose size in v1 is its length in v2.
const definition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"beams.example.com"},
"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"beams","kind":"Beam"},
"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{}}},
"versions":[
{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"size":{"type":"integer"},"wood":{"type":"string"}}}}},
{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","properties":{"length":{"type":"integer"},"wood":{"type":"string"}}}}}]}}`

// TestCustomVersions checks that a webhook for one version of a custom kind sees the objects of requests in another one
// as the kind's own webhook converts them, and that its patch is converted back.
func TestCustomVersions(t *testing.T) {
	w := start(t)
	w.namespace(t, "customversions")
	w.hooks.convert(t)
	var crd apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal([]byte(definition), &crd); err != nil {
		t.Fatal(err)
	}
	at := w.hooks.config("convert")
	crd.Spec.Conversion.Webhook.ClientConfig = &apiextensionsv1.WebhookClientConfig{URL: at.URL, CABundle: at.CABundle}
	body, err := json.Marshal(&crd)
	if err != nil {
		t.Fatal(err)
	}
	const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	w.post(t, definitions, string(body))
	t.Cleanup(func() { w.RESTClient().Delete().AbsPath(definitions, crd.Name).Do(background) })
	for settled := false; !settled; { // until v2 is served
		err := w.RESTClient().Get().AbsPath("/apis/example.com/v2/namespaces/customversions/beams").Do(background).Error()
		settled = err == nil
	}

	w.hooks.says("mutate-beam", func(_ *reviewv1.AdmissionRequest, a *reviewv1.AdmissionResponse) {
		patch(a, `[{"op":"add","path":"/wood","value":"oak"},{"op":"replace","path":"/size","value":7}]`)
	})
	w.hooks.says("validate-beam", nil)
	w.mutating(t, "beams.m.example.com", w.mutate("mutate-beam", "customversions", func(h *admissionv1.MutatingWebhook) {
		h.Rules = rules("example.com", "v1", "beams")
	}))
	w.validating(t, "beams.v.example.com", w.validate("validate-beam", "customversions", func(h *admissionv1.ValidatingWebhook) {
		h.Rules = rules("example.com", "v1", "beams")
	}))
	text := w.post(t, "/apis/example.com/v2/namespaces/customversions/beams",
		`{"apiVersion":"example.com/v2","kind":"Beam","metadata":{"name":"b"},"length":3}`)
	if !strings.Contains(text, `"length":7`) || !strings.Contains(text, `"wood":"oak"`) || strings.Contains(text, `"size"`) {
		t.Errorf("answered %s", text)
	}
	for path, size := range map[string]string{"mutate-beam": `"size":3`, "validate-beam": `"size":7`} {
		asked := w.hooks.asked(path)
		if len(asked) != 1 {
			t.Fatalf("%s was asked %d times", path, len(asked))
		}
		q := asked[0]
		if object := string(q.Object.Raw); q.Kind.Version != "v1" || q.RequestKind.Version != "v2" ||
			!strings.Contains(object, `"example.com/v1"`) || !strings.Contains(object, size) || strings.Contains(object, `"length":`) {
			t.Errorf("%s was asked about a %s as %s", path, q.Kind.Version, object)
		}
	}
}

// post creates an object and returns the answer.
func (w *world) post(t *testing.T, path, body string) string {
	t.Helper()
	text, err := w.RESTClient().Post().AbsPath(path).Body([]byte(body)).SetHeader("Content-Type", "application/json").Do(background).Raw()
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return string(text)
}

// convert serves conversions between size and length.
func (r *receiver) convert(t *testing.T) {
	reviews := r.Config.Handler
	mux := http.NewServeMux()
	mux.Handle("/", reviews)
	mux.HandleFunc("/convert", func(w http.ResponseWriter, req *http.Request) {
		var review apiextensionsv1.ConversionReview
		if err := json.NewDecoder(req.Body).Decode(&review); err != nil {
			t.Error(err)
			return
		}
		review.Response = &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
		for _, raw := range review.Request.Objects {
			u := &unstructured.Unstructured{}
			if err := u.UnmarshalJSON(raw.Raw); err != nil {
				t.Error(err)
				return
			}
			to := map[string]string{"example.com/v1": "size", "example.com/v2": "length"}
			if value, ok := u.Object[to[u.GetAPIVersion()]]; ok {
				delete(u.Object, to[u.GetAPIVersion()])
				u.Object[to[review.Request.DesiredAPIVersion]] = value
			}
			u.SetAPIVersion(review.Request.DesiredAPIVersion)
			review.Response.ConvertedObjects = append(review.Response.ConvertedObjects, runtime.RawExtension{Object: u})
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(&review); err != nil {
			t.Error(err)
		}
	})
	r.Config.Handler = mux
}
