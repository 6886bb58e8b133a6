package openapi_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/rest"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"

	table "fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/builtin"
	"fairlead.dev/internal/resource/custom"
	"fairlead.dev/internal/server/openapi"
)

func start(t *testing.T) (*httptest.Server, *discovery.DiscoveryClient) {
	srv := httptest.NewServer(openapi.New(builtin.Resources(), table.Scheme()))
	t.Cleanup(srv.Close)
	return srv, discovery.NewDiscoveryClientForConfigOrDie(&rest.Config{Host: srv.URL})
}

// TestReferences reads every v3 document as client-go does, and resolves every reference.
func TestReferences(t *testing.T) {
	_, client := start(t)
	root := openapi3.NewRoot(client.OpenAPIV3())
	gvs, err := root.GroupVersions()
	if err != nil {
		t.Fatal(err)
	}
	if len(gvs) < 18 {
		t.Fatalf("only %d groups and versions", len(gvs))
	}
	for _, gv := range gvs {
		doc, err := root.GVSpecAsMap(gv)
		if err != nil {
			t.Fatalf("%s: %v", gv, err)
		}
		schemas := doc["components"].(map[string]any)["schemas"].(map[string]any)
		walk(doc, func(key string, v any) {
			if name, ok := v.(string); ok && key == "$ref" {
				if _, ok := schemas[strings.TrimPrefix(name, "#/components/schemas/")]; !ok {
					t.Errorf("%s: %s leads nowhere", gv, name)
				}
			}
		})
	}
}

func walk(v any, f func(key string, v any)) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			f(k, e)
			walk(e, f)
		}
	case []any:
		for _, e := range v {
			walk(e, f)
		}
	}
}

// TestMarkers checks the markers that tools rely on.
func TestMarkers(t *testing.T) {
	_, client := start(t)
	doc, err := openapi3.NewRoot(client.OpenAPIV3()).GVSpec(schema.GroupVersion{Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	property := func(definition, name string) spec.Schema {
		return doc.Components.Schemas[definition].Properties[name]
	}
	for _, c := range []struct {
		definition, property, extension string
		want                            any
	}{
		{"io.k8s.api.core.v1.PodSpec", "containers", "x-kubernetes-patch-merge-key", "name"},
		{"io.k8s.api.core.v1.PodSpec", "volumes", "x-kubernetes-patch-strategy", "merge,retainKeys"},
		{"io.k8s.api.core.v1.PodSpec", "nodeSelector", "x-kubernetes-map-type", "atomic"},
		{"io.k8s.api.core.v1.Container", "ports", "x-kubernetes-list-type", "map"},
		{"io.k8s.api.core.v1.Container", "args", "x-kubernetes-list-type", "atomic"},
		{"io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", "finalizers", "x-kubernetes-list-type", "set"},
	} {
		if got := property(c.definition, c.property).Extensions[c.extension]; got != c.want {
			t.Errorf("%s.%s: %s is %v, want %v", c.definition, c.property, c.extension, got, c.want)
		}
	}
	if d := property("io.k8s.api.core.v1.ContainerPort", "protocol").Default; d != "TCP" {
		t.Errorf("the default protocol is %v", d)
	}
	if e := property("io.k8s.api.core.v1.PodSpec", "restartPolicy").Enum; len(e) != 3 || e[0] != "Always" {
		t.Errorf("restart policies are %v", e)
	}
	pod := doc.Components.Schemas["io.k8s.api.core.v1.PodSpec"]
	if len(pod.Required) != 1 || pod.Required[0] != "containers" {
		t.Errorf("a pod's spec requires %v", pod.Required)
	}
	intOrString := doc.Components.Schemas["io.k8s.apimachinery.pkg.util.intstr.IntOrString"]
	if intOrString.Format != "int-or-string" || len(intOrString.OneOf) != 2 || len(intOrString.Type) != 0 {
		t.Errorf("int or string is %+v", intOrString.SchemaProps)
	}
}

// TestModels builds the types of server-side apply from the definitions.
func TestModels(t *testing.T) {
	all, err := openapi.Models(builtin.Resources(), table.Scheme())
	if err != nil {
		t.Fatal(err)
	}
	types, err := managedfields.NewTypeConverter(all, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range builtin.Resources() {
		for _, v := range r.Versions {
			obj := &unstructured.Unstructured{}
			obj.SetGroupVersionKind(r.GVK(v.Name))
			if _, err := types.ObjectToTyped(obj); err != nil {
				t.Errorf("%s %s: %v", r.GVK(v.Name), r.Plural, err)
			}
		}
	}
}

func body(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%s: %s %v", url, resp.Status, err)
	}
	return string(b)
}

func TestServing(t *testing.T) {
	h := openapi.New(builtin.Resources(), table.Scheme())
	get := func(url string, header ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("GET", url, nil)
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	var index struct {
		Paths map[string]struct {
			URL string `json:"serverRelativeURL"`
		}
	}
	first := get("/openapi/v3")
	if err := json.Unmarshal(first.Body.Bytes(), &index); err != nil {
		t.Fatal(err)
	}
	apps := index.Paths["apis/apps/v1"].URL
	if w := get(apps); w.Code != 200 || w.Header().Get("Cache-Control") != "public, immutable" || w.Header().Get("ETag") == "" {
		t.Errorf("%s: %d %v", apps, w.Code, w.Header())
	}
	if w := get("/openapi/v3/apis/apps/v1?hash=OLD"); w.Code != 301 || w.Header().Get("Location") != apps {
		t.Errorf("an old hash: %d to %q", w.Code, w.Header().Get("Location"))
	}
	if w := get("/openapi/v3", "If-None-Match", first.Header().Get("ETag")); w.Code != 304 || w.Body.Len() != 0 {
		t.Errorf("the same index: %d", w.Code)
	}
	made := get(apps).Header().Get("Last-Modified")
	if w := get(apps, "If-Modified-Since", made); made == "" || w.Code != 304 || w.Header().Get("ETag") == "" {
		t.Errorf("not modified since %q: %d", made, w.Code)
	}
	if w := get(apps, "If-Modified-Since", "Mon, 01 Jan 2024 00:00:00 GMT"); w.Code != 200 {
		t.Errorf("modified since 2024: %d", w.Code)
	}
	if w := get(apps, "If-Modified-Since", made, "If-None-Match", `"other"`); w.Code != 200 {
		t.Errorf("another tag, not modified since: %d", w.Code)
	}
	if w := get("/openapi/v2", "Accept", "text/html"); w.Code != 406 {
		t.Errorf("as HTML: %d", w.Code)
	}
	if w := get("/openapi/v3/apis/nope/v1"); w.Code != 404 {
		t.Errorf("an unknown group: %d", w.Code)
	}
	if w := get("/openapi/v3/version", "Accept-Encoding", "gzip"); w.Header().Get("Content-Encoding") != "gzip" {
		t.Errorf("gzip: %v", w.Header())
	}
	for _, accept := range []string{"application/com.github.proto-openapi.spec.v3@v1.0+protobuf", "application/com.github.proto-openapi.spec.v3.v1.0+protobuf,application/json"} {
		if w := get(apps, "Accept", accept); w.Header().Get("Content-Type") != "application/com.github.proto-openapi.spec.v3.v1.0+protobuf" || w.Body.Len() == 0 {
			t.Errorf("%s: %v", accept, w.Header())
		}
	}
	var some []*table.Resource
	for _, r := range builtin.Resources() {
		if r.Plural != "pods" {
			some = append(some, r)
		}
	}
	h.Set(some)
	if w := get(apps); w.Code != 200 {
		t.Errorf("a document that did not change has another URL: %d", w.Code)
	}
	if w := get(index.Paths["api/v1"].URL); w.Code != 301 {
		t.Errorf("a document that changed has the same URL: %d", w.Code)
	}
}

const widgets = `{"metadata":{"name":"widgets.shop.example.com","uid":"1","generation":1},
"spec":{"group":"shop.example.com","scope":"Namespaced","names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,
"schema":{"openAPIV3Schema":{"type":"object","description":"A widget.","properties":{"spec":{"type":"object","required":["size","maybe"],"properties":{
"size":{"type":"integer"},"maybe":{"type":"string","nullable":true},"port":{"x-kubernetes-int-or-string":true},"free":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}}}]},
"status":{"acceptedNames":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"},"conditions":[{"type":"Established","status":"True"}]}}`

// TestCustomResource checks that kinds without a Go type are described by their schema, in v2 without the parts
// that v2 cannot express.
func TestCustomResource(t *testing.T) {
	k, err := custom.New([]byte(widgets), custom.Options{})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(openapi.New(k.Resources(), table.Scheme()))
	defer srv.Close()
	var doc spec3.OpenAPI
	if err := json.Unmarshal([]byte(body(t, srv.URL+"/openapi/v3/apis/shop.example.com/v1")), &doc); err != nil {
		t.Fatal(err)
	}
	s := doc.Components.Schemas["com.example.shop.v1.Widget"]
	if s == nil || s.Description != "A widget." || s.Properties["spec"].Properties["size"].Type[0] != "integer" || len(s.Properties["spec"].Properties["port"].AnyOf) != 2 {
		t.Errorf("widgets are %+v", s)
	}
	if doc.Paths.Paths["/apis/shop.example.com/v1/namespaces/{namespace}/widgets/{name}"] == nil || doc.Components.Schemas["com.example.shop.v1.WidgetList"] == nil {
		t.Errorf("paths are %+v", doc.Paths.Paths)
	}
	var old spec.Swagger
	if err := json.Unmarshal([]byte(body(t, srv.URL+"/openapi/v2")), &old); err != nil {
		t.Fatal(err)
	}
	got := old.Definitions["com.example.shop.v1.Widget"].Properties["spec"]
	if len(got.Required) != 1 || len(got.Properties["maybe"].Type) != 0 || len(got.Properties["port"].AnyOf) != 0 || len(got.Properties["free"].Type) != 0 {
		t.Errorf("in v2 a spec is %+v", got)
	}
}
