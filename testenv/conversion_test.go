package testenv_test

import (
	"encoding/json"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/testenv"
)

// converted is a CRD whose versions name the same field size and length, and whose webhook converts them.
const converted = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: planks.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: planks, kind: Plank}
  conversion:
    strategy: Webhook
    webhook:
      conversionReviewVersions: [v1]
      clientConfig: {service: {namespace: default, name: operator, path: /convert}}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer}}}}}
  - {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {length: {type: integer}}}}}
`

const refusing = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: refusing}
webhooks:
- name: refusing.example.com
  sideEffects: None
  admissionReviewVersions: [v1]
  clientConfig: {service: {namespace: default, name: operator, path: /validate}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
`

// operatorHandler answers for both webhooks.
func operatorHandler(t *testing.T) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/convert", func(w http.ResponseWriter, r *http.Request) {
		var review apiextensionsv1.ConversionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
			return
		}
		review.Response = &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
		for _, raw := range review.Request.Objects {
			var plank unstructured.Unstructured
			if err := plank.UnmarshalJSON(raw.Raw); err != nil {
				t.Error(err)
			}
			plank.SetAPIVersion(review.Request.DesiredAPIVersion)
			for from, to := range map[string]string{"size": "length", "length": "size"} {
				if value, ok := plank.Object[from]; ok {
					delete(plank.Object, from)
					plank.Object[to] = value
					break
				}
			}
			review.Response.ConvertedObjects = append(review.Response.ConvertedObjects, runtime.RawExtension{Object: &plank})
		}
		json.NewEncoder(w).Encode(review)
	})
	mux.HandleFunc("/validate", func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			t.Error(err)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Result: &metav1.Status{Message: "not today"}}
		json.NewEncoder(w).Encode(review)
	})
	return mux
}

// callsWebhooks serves the webhooks of an environment with the options above, and makes the server call both.
func callsWebhooks(t *testing.T, env *testenv.Env) {
	t.Helper()
	at := env.Webhooks()
	l, err := env.Listen(net.JoinHostPort(at.Host, strconv.Itoa(at.Port)))
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: operatorHandler(t)}
	ended := make(chan error, 1)
	go func() {
		ended <- srv.ServeTLS(l, filepath.Join(at.CertDir, "tls.crt"), filepath.Join(at.CertDir, "tls.key"))
	}()
	defer func() {
		srv.Close()
		<-ended
	}()

	planks := schema.GroupVersionResource{Group: "example.com", Version: "v2", Resource: "planks"}
	d := dynamic.NewForConfigOrDie(env.Config())
	plank := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v2", "kind": "Plank", "metadata": map[string]any{"name": "p"}, "length": int64(3)}}
	if _, err := d.Resource(planks).Namespace("default").Create(t.Context(), plank, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	planks.Version = "v1"
	got, err := d.Resource(planks).Namespace("default").Get(t.Context(), "p", metav1.GetOptions{})
	if err != nil || got.Object["size"] != int64(3) || got.Object["length"] != nil {
		t.Errorf("in v1: %v, %v", got, err)
	}
	c := kubernetes.NewForConfigOrDie(env.Config())
	_, err = c.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, metav1.CreateOptions{})
	if err == nil || !strings.Contains(err.Error(), `"refusing.example.com" denied the request: not today`) {
		t.Errorf("the validating webhook: %v", err)
	}
}

func withWebhooks() testenv.Options {
	return testenv.Options{
		NoNodes: true, NoControllers: true, NoScheduler: true,
		CRDs:     testenv.Objects{Values: []any{[]byte(converted)}},
		Webhooks: testenv.Objects{Values: []any{[]byte(refusing)}},
	}
}

// TestConversionWebhook calls a CRD's conversion webhook, and a validating one, where the test serves them.
func TestConversionWebhook(t *testing.T) { callsWebhooks(t, testenv.New(t, withWebhooks())) }

// TestBubbleOptionsWebhooks does so in a bubble, whose control plane reaches listeners of Env.Listen alone.
func TestBubbleOptionsWebhooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := withWebhooks()
		o.Bubble = true
		env := testenv.New(t, o)
		callsWebhooks(t, env)
		if path := env.KubeconfigPath(); path != "" {
			t.Errorf("a kubeconfig at %s, which no program can use", path)
		}
	})
}

// TestBubbleInDataDir refuses a data directory, since a control plane in a bubble is in memory.
func TestBubbleInDataDir(t *testing.T) {
	check := isolate(t)
	synctest.Test(t, func(t *testing.T) {
		_, err := testenv.Start(t.Context(), testenv.Options{Bubble: true, DataDir: t.TempDir()})
		if err == nil || !strings.Contains(err.Error(), "Options.DataDir is set, but a control plane in a bubble is in memory") {
			t.Error(err)
		}
	})
	check()
}
