package server_test

import (
	"bytes"
	"context"
	stdjson "encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FuzzRequest sends whole requests: method, path, query, Content-Type, Accept and body. The
// server never panics or answers 500, an error is a Status of its own code, and the server goes on
// answering others.
func FuzzRequest(f *testing.F) {
	c := fuzzServer(f)
	const pod = "/api/v1/namespaces/default/pods/p0"
	const json, proto, any = "application/json", "application/vnd.kubernetes.protobuf", "*/*"
	for _, s := range []struct{ method, path, query, is, accept, body string }{
		{"GET", pod, "", "", any, ""},
		{"GET", pod, "pretty=1", "", "application/yaml", ""},
		{"GET", "/api/v1/pods", "limit=1", "", proto, ""},
		{"GET", "/api/v1/pods", "", "", "application/json;as=Table;v=v1;g=meta.k8s.io", ""},
		{"GET", "/apis", "", "", "application/json;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io", ""},
		{"GET", "/openapi/v3/api/v1", "", "", any, ""},
		{"POST", "/api/v1/namespaces/default/configmaps", "fieldValidation=Strict", json, any, `{"metadata":{"generateName":"a-"},"data":{"a":"b"}}`},
		{"POST", "/api/v1/namespaces/default/pods", "dryRun=All", "application/yaml", any, "metadata: {name: x}\nspec:\n  containers: [{name: c, image: i}]"},
		{"POST", pod + "/eviction", "", json, any, `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p0"}}`},
		{"POST", pod + "/binding", "", json, any, `{"target":{"kind":"Node","name":"n"}}`},
		{"PUT", pod + "/status", "", json, any, `{"metadata":{"name":"p0"},"status":{"phase":"Running"}}`},
		{"PUT", "/apis/apps/v1/namespaces/default/deployments/d/scale", "", json, any, `{"spec":{"replicas":1}}`},
		{"PATCH", pod, "", "application/merge-patch+json", any, `{"metadata":{"labels":{"a":null}}}`},
		{"PATCH", pod, "", "application/strategic-merge-patch+json", any, `{"spec":{"containers":[{"name":"c","$patch":"delete"}]}}`},
		{"PATCH", pod, "", "application/json-patch+json", any, `[{"op":"test","path":"/metadata/name","value":"p0"},{"op":"copy","from":"/spec","path":"/spec/x"}]`},
		{"PATCH", pod, "fieldManager=m&force=true", "application/apply-patch+yaml", any, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p0","labels":{"z":"1"}}}`},
		{"DELETE", pod, "gracePeriodSeconds=0", json, any, `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"x"}}`},
		{"DELETE", "/api/v1/namespaces/default/pods", "labelSelector=none", "", any, ""},
		{"OPTIONS", "/version", "", "", any, ""}, {"CONNECT", pod + "/exec", "command=a", "", any, ""},
		{"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "", json, any, `{"spec":{"nonResourceAttributes":{"path":"/"}}}`},
		{"POST", "/api/v1/namespaces", "", proto, proto, "k8s\x00\n\x0f\n\x02v1\x12\tNamespace\x12\x07\n\x05\n\x03abc"},
	} {
		f.Add(s.method, s.path, s.query, s.is, s.accept, []byte(s.body))
	}
	f.Fuzz(func(t *testing.T, method, path, query, is, accept string, body []byte) {
		if !strings.HasPrefix(path, "/") || strings.ContainsAny(method, " \r\n\x00") || method == "" {
			return // HTTP servers do not pass it on
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		req := (&http.Request{Method: method, URL: &url.URL{Path: path, RawQuery: query}, Host: "memory", Header: http.Header{},
			Proto: "HTTP/2.0", ProtoMajor: 2, Body: http.NoBody}).WithContext(ctx)
		if len(body) > 0 {
			req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		}
		req.Header["Content-Type"], req.Header["Accept"] = []string{is}, []string{accept}
		w := httptest.NewRecorder()
		c.server.ServeHTTP(w, req)
		if ctx.Err() == nil && w.Code >= http.StatusInternalServerError && w.Code != http.StatusServiceUnavailable && w.Code != http.StatusGatewayTimeout {
			t.Fatalf("%s %s?%s: %d %s", method, path, query, w.Code, w.Body)
		}
		if ct := w.Header().Get("Content-Type"); w.Code >= 400 && ctx.Err() == nil && strings.HasPrefix(ct, "application/json") {
			var status metav1.Status
			if err := stdjson.Unmarshal(w.Body.Bytes(), &status); err != nil || status.Kind == "Status" && int(status.Code) != w.Code {
				t.Fatalf("%s %s?%s: %d says %s", method, path, query, w.Code, w.Body)
			}
		}
		ask := httptest.NewRequest("GET", "/api/v1/namespaces/kube-system", nil)
		w = httptest.NewRecorder()
		c.server.ServeHTTP(w, ask)
		if w.Code != http.StatusOK && w.Code != http.StatusNotFound {
			t.Fatalf("after %s %s?%s others are answered %d %s", method, path, query, w.Code, w.Body)
		}
	})
}
