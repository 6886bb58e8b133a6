package testcluster_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/testcluster"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

var widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

func widget(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": name, "namespace": "default"},
	}}
}

// definition returns a CRD of another kind as a value of Go.
func definition(kind string) map[string]any {
	plural := strings.ToLower(kind) + "s"
	return map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": plural + ".example.com"},
		"spec": map[string]any{
			"group": "example.com", "scope": "Namespaced", "names": map[string]any{"plural": plural, "kind": kind},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	}
}

// CustomResourceDefinition is a typed definition without TypeMeta, as tests write them.
type CustomResourceDefinition struct {
	Metadata any `json:"metadata"`
	Spec     any `json:"spec"`
}

// CRDs come from directories, files and values, and are served when New returns.
func TestCRDs(t *testing.T) {
	gadget, err := json.Marshal(definition("Gadget"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "gadget.json")
	if err := os.WriteFile(file, gadget, 0o600); err != nil {
		t.Fatal(err)
	}
	thing := definition("Thing")
	o := small()
	o.CRDs = testcluster.Objects{
		Paths: []string{"testdata/crds", file},
		Values: []any{
			CustomResourceDefinition{thing["metadata"], thing["spec"]},
			&unstructured.Unstructured{Object: definition("Gizmo")},
			[]byte(strings.ReplaceAll(string(gadget), "adget", "imlet")),
		},
	}
	env := testcluster.New(t, o)
	c := dynamic.NewForConfigOrDie(env.Config())
	for _, plural := range []string{"widgets", "gadgets", "things", "gizmos", "gimlets"} {
		if _, err := c.Resource(widgets.GroupVersion().WithResource(plural)).List(context.Background(), metav1.ListOptions{}); err != nil {
			t.Errorf("%s: %v", plural, err)
		}
	}
	w := widget("a")
	if _, err := c.Resource(widgets).Namespace("default").Create(context.Background(), w, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	env.WaitFor(t, w, func() bool { return w.GetUID() != "" })
}

// serveWebhooks serves the webhooks of testdata: one sets the size to 7, the other forbids the name "bad".
func serveWebhooks(t *testing.T, w testcluster.Webhooks) {
	t.Helper()
	mux := http.NewServeMux()
	answer := func(decide func(object map[string]any) map[string]any) http.HandlerFunc {
		return func(out http.ResponseWriter, q *http.Request) {
			var review struct {
				Request struct {
					UID    string         `json:"uid"`
					Object map[string]any `json:"object"`
				} `json:"request"`
			}
			if err := json.NewDecoder(q.Body).Decode(&review); err != nil {
				http.Error(out, err.Error(), http.StatusBadRequest)
				return
			}
			response := decide(review.Request.Object)
			response["uid"] = review.Request.UID
			json.NewEncoder(out).Encode(map[string]any{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response})
		}
	}
	mux.Handle("/mutate", answer(func(map[string]any) map[string]any {
		return map[string]any{"allowed": true, "patchType": "JSONPatch", "patch": []byte(`[{"op":"add","path":"/spec","value":{"size":7}}]`)}
	}))
	mux.Handle("/validate", answer(func(object map[string]any) map[string]any {
		name := object["metadata"].(map[string]any)["name"]
		return map[string]any{"allowed": name != "bad", "status": map[string]any{"message": "a bad name"}}
	}))
	serveAt(t, w, mux)
}

// serveAt serves at the address of an environment's webhooks until the test ends.
func serveAt(t *testing.T, w testcluster.Webhooks, h http.Handler) {
	t.Helper()
	l, err := net.Listen("tcp", fmt.Sprintf("%s:%d", w.Host, w.Port))
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: h}
	ended := make(chan error, 1)
	go func() {
		ended <- srv.ServeTLS(l, filepath.Join(w.CertDir, "tls.crt"), filepath.Join(w.CertDir, "tls.key"))
	}()
	t.Cleanup(func() {
		srv.Close()
		if err := <-ended; err != http.ErrServerClosed {
			t.Error(err)
		}
	})
}

// A defaulting and a validating webhook of manifests are called at the address that the environment gave.
func TestWebhooks(t *testing.T) {
	o := small()
	o.CRDs.Paths = []string{"testdata/crds/widgets.yaml"}
	o.Webhooks.Paths = []string{"testdata/webhooks"}
	env := testcluster.New(t, o)
	serveWebhooks(t, env.Webhooks())
	c := dynamic.NewForConfigOrDie(env.Config()).Resource(widgets).Namespace("default")
	env.Eventually(t, "the webhooks' server", func(ctx context.Context) error {
		_, err := c.Create(ctx, widget("good"), metav1.CreateOptions{})
		return err
	})
	w := widget("good")
	env.WaitFor(t, w, func() bool {
		size, _, _ := unstructured.NestedInt64(w.Object, "spec", "size")
		return size == 7
	})
	if _, err := c.Create(context.Background(), widget("bad"), metav1.CreateOptions{}); err == nil || !strings.Contains(err.Error(), "a bad name") {
		t.Errorf("an invalid object: %v", err)
	}
}
