package server_test

import (
	"context"
	"strings"
	"testing"

	"fairlead.dev/server"
	"fairlead.dev/storage"
)

// TestUnknownFieldsSurvive checks that fields stored by a newer server survive writes to other
// fields, at any depth. kube-apiserver drops them.
func TestUnknownFieldsSurvive(t *testing.T) {
	var store storage.Store
	c := start(t, func(cfg *server.Config) { store = cfg.Store })
	const pod = "/api/v1/namespaces/default/pods/p"
	c.must("POST /api/v1/namespaces/default/pods", `{"metadata":{"name":"p"},"spec":{"nodeName":"n","containers":[{"name":"a","image":"i"},{"name":"b","image":"i"}]}}`)
	const key = "/registry/pods/default/p"
	there, err := store.Range(context.Background(), storage.RangeRequest{Start: key})
	if err != nil || len(there.KVs) != 1 {
		t.Fatal(there, err)
	}
	text := string(there.KVs[0].Value)
	for _, r := range [][2]string{{`"spec":{`, `"spec":{"newer":{"x":[1,false]},`}, {`{"name":"b",`, `{"name":"b","fresh":false,`}, {`"metadata":{`, `"metadata":{"newMeta":"m",`}, {`"status":{`, `"extra":[{}],"status":{"newStatus":"s",`}} {
		if !strings.Contains(text, r[0]) {
			t.Fatalf("no %s in %s", r[0], text)
		}
		text = strings.Replace(text, r[0], r[1], 1)
	}
	if _, err := store.Commit(context.Background(), storage.Txn{Then: []storage.Op{{Type: storage.Put, Key: key, Value: []byte(text)}}}); err != nil {
		t.Fatal(err)
	}
	all := []string{`"newer":{"x":[1,false]}`, `"fresh":false`, `"newMeta":"m"`, `"newStatus":"s"`, `"extra":[{}]`}
	check := func(what string, want ...string) {
		t.Helper()
		got := c.must("GET "+pod, "").body
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: %s is gone from %s", what, w, got)
			}
		}
	}
	check("stored", all...)
	if w := c.must("PATCH "+pod+"?fieldValidation=Strict application/merge-patch+json", `{"metadata":{"labels":{"a":"b"}}}`).header.Get("Warning"); w != "" {
		t.Error("a warning of what was there:", w)
	}
	if a := c.do("PATCH "+pod+"?fieldValidation=Strict application/merge-patch+json", `{"metadata":{"label":{"a":"b"}}}`); a.code != 422 {
		t.Error("a field that nobody knows was taken:", a.code)
	}
	check("merge patch", all...)
	c.must("PATCH "+pod+" application/strategic-merge-patch+json", `{"spec":{"containers":[{"name":"b","image":"j"}]}}`)
	check("strategic patch", append(all, `"image":"j"`)...)
	c.must("PATCH "+pod+" application/json-patch+json", `[{"op":"replace","path":"/spec/containers/1/image","value":"k"}]`)
	check("JSON patch", append(all, `"image":"k"`)...)
	c.must("PATCH "+pod+"?fieldManager=m application/apply-patch+yaml", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"c":"d"}}}`)
	check("apply", append(all, `"c":"d"`)...)
	c.must("PATCH "+pod+"/status application/merge-patch+json", `{"status":{"phase":"Running"}}`)
	check("status", append(all, `"Running"`)...)
	before := c.must("GET "+pod, "").text("metadata.resourceVersion")
	if after := c.must("PATCH "+pod+" application/merge-patch+json", `{"metadata":{"labels":{"a":"b"}}}`).text("metadata.resourceVersion"); after != before {
		t.Error("a patch that changes nothing is written")
	}
	c.must("DELETE "+pod, "")
	check("graceful delete", append(all, `"deletionTimestamp"`)...)
}
