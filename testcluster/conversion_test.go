package testcluster_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"fairlead.dev/testcluster"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
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

// convert answers a ConversionReview by renaming the field.
func convert(w http.ResponseWriter, r *http.Request) {
	var review struct {
		Request struct {
			UID     string           `json:"uid"`
			Desired string           `json:"desiredAPIVersion"`
			Objects []map[string]any `json:"objects"`
		} `json:"request"`
	}
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	names := map[string]string{"example.com/v1": "size", "example.com/v2": "length"}
	for _, plank := range review.Request.Objects {
		from, _ := plank["apiVersion"].(string)
		plank["apiVersion"], plank[names[review.Request.Desired]] = review.Request.Desired, plank[names[from]]
		delete(plank, names[from])
	}
	json.NewEncoder(w).Encode(map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "response": map[string]any{
		"uid": review.Request.UID, "result": map[string]any{"status": "Success"}, "convertedObjects": review.Request.Objects,
	}})
}

// The conversion webhook of a CRD is called where the test serves it, by the control plane of New and by forks of a base.
func TestConversionWebhook(t *testing.T) {
	o := small()
	o.CRDs.Values = []any{[]byte(converted)}
	calls := func(t *testing.T, env *testcluster.Env) {
		t.Helper()
		mux := http.NewServeMux()
		mux.HandleFunc("/convert", convert)
		serveAt(t, env.Webhooks(), mux)
		made := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v2", "kind": "Plank", "metadata": map[string]any{"name": "p", "namespace": "default"}, "length": int64(3),
		}}
		planks := func(version string) dynamic.ResourceInterface {
			gvr := schema.GroupVersionResource{Group: "example.com", Version: version, Resource: "planks"}
			return dynamic.NewForConfigOrDie(env.Config()).Resource(gvr).Namespace("default")
		}
		if _, err := planks("v2").Create(context.Background(), made, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		for version, field := range map[string]string{"v1": "size", "v2": "length"} {
			list, err := planks(version).List(context.Background(), metav1.ListOptions{})
			if err != nil || len(list.Items) != 1 || list.Items[0].Object[field] != int64(3) {
				t.Errorf("in %s: %v, %v", version, list, err)
			}
		}
	}
	t.Run("new", func(t *testing.T) { calls(t, testcluster.New(t, o)) })
	t.Run("fork", func(t *testing.T) {
		base, err := testcluster.Prepare(context.Background(), o, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer base.Close()
		for range 2 {
			t.Run("of two", func(t *testing.T) { calls(t, base.Fork(t)) })
		}
	})
}
