package controlplane_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"fairlead.dev/client"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
)

// TestWebhookFieldsArePruned: after a mutating webhook changed a custom object, fields that
// the schema lacks are pruned, and its defaults are set.
func TestWebhookFieldsArePruned(t *testing.T) {
	const patch = `[{"op":"add","path":"/spec/known","value":"changed"},{"op":"add","path":"/spec/unknown","value":"lost"},{"op":"add","path":"/spec/sub","value":{"other":1}}]`
	hook := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review struct {
			Request struct{ UID string } `json:"request"`
		}
		json.NewDecoder(r.Body).Decode(&review)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":%q,"allowed":true,"patchType":"JSONPatch","patch":%q}}`,
			review.Request.UID, base64.StdEncoding.EncodeToString([]byte(patch)))
	}))
	defer hook.Close()
	cp := controlplanetest.Start(t, controlplane.Options{})
	c := controlplanetest.Client(t, cp)
	do := func(method, path, body string) []byte {
		t.Helper()
		res, err := c.REST().Do(t.Context(), client.Request{Method: method, Path: path, Body: []byte(body)})
		if err != nil {
			t.Fatalf("%s %s: %v", method, path, err)
		}
		return res.Body
	}
	do(http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `{"metadata":{"name":"things.pruned.example.com"},"spec":{"group":"pruned.example.com","scope":"Cluster",
		"names":{"plural":"things","kind":"Thing"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{
			"known":{"type":"string"},"sub":{"type":"object","properties":{"given":{"type":"string","default":"yes"}}}}}}}}}]}}`)
	ca := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hook.Certificate().Raw}))
	do(http.MethodPost, "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", `{"metadata":{"name":"adds"},"webhooks":[{"name":"adds.example.com","sideEffects":"None","admissionReviewVersions":["v1"],
		"clientConfig":{"url":"`+hook.URL+`","caBundle":"`+ca+`"},"rules":[{"apiGroups":["pruned.example.com"],"apiVersions":["v1"],"operations":["CREATE"],"resources":["things"]}]}]}`)
	do(http.MethodPost, "/apis/pruned.example.com/v1/things", `{"apiVersion":"pruned.example.com/v1","kind":"Thing","metadata":{"name":"a"},"spec":{"known":"sent"}}`)
	var stored struct {
		Spec map[string]any `json:"spec"`
	}
	if err := json.Unmarshal(do(http.MethodGet, "/apis/pruned.example.com/v1/things/a", ""), &stored); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(stored.Spec), "map[known:changed sub:map[given:yes]]"; got != want {
		t.Errorf("spec is %s, want %s", got, want)
	}
}
