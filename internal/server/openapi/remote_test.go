package openapi_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/builtin"
	"fairlead.dev/internal/server/openapi"
)

// theirs is the v2 document of a server of gadgets. It contains more than its registered version, and its own
// definition of a type that this server has too.
const theirs = `{"swagger":"2.0","info":{"title":"far","version":"1"},
	"paths":{
		"/apis/far.example.com/v1/gadgets":{"get":{"responses":{"200":{"description":"OK","schema":{"$ref":"#/definitions/com.example.far.v1.Gadget"}}}}},
		"/apis/other.example.com/v1/things":{"get":{"responses":{"200":{"description":"OK","schema":{"$ref":"#/definitions/com.example.other.v1.Thing"}}}}},
		"/version/":{"get":{"description":"theirs","responses":{"200":{"description":"OK"}}}}},
	"definitions":{
		"com.example.far.v1.Gadget":{"type":"object","properties":{"metadata":{"$ref":"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}}},
		"com.example.other.v1.Thing":{"type":"object"},
		"io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta":{"type":"object","description":"theirs"}}}`

// TestRemotes checks that documents of other servers are listed and merged in their place, and that the original
// state returns when they are removed.
func TestRemotes(t *testing.T) {
	far := schema.GroupVersion{Group: "far.example.com", Version: "v1"}
	h := openapi.New(builtin.Resources(), resource.Scheme())
	read := func(path string, into any) (tag string) {
		t.Helper()
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
			t.Fatal(err)
		}
		return w.Header().Get("ETag")
	}
	type index struct {
		Paths map[string]struct {
			URL string `json:"serverRelativeURL"`
		} `json:"paths"`
	}
	var before index
	plain := read("/openapi/v2", &struct{}{})
	read("/openapi/v3", &before)
	v2, hash, err := openapi.Pack([]byte(theirs))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := openapi.Pack([]byte("<html>")); err == nil {
		t.Error("what is no document is taken for one")
	}

	h.SetRemotes([]openapi.Remote{{GroupVersion: far, V2: v2, V2Hash: hash, V3: map[string]string{
		"apis/far.example.com/v1": "/openapi/v3/apis/far.example.com/v1?hash=THEIRS", "version": "/openapi/v3/version?hash=THEIRS",
	}}})
	var list index
	read("/openapi/v3", &list)
	if got := list.Paths["apis/far.example.com/v1"].URL; got != "/openapi/v3/apis/far.example.com/v1?hash=THEIRS" || len(list.Paths) != len(before.Paths)+1 {
		t.Errorf("%d documents, theirs at %q", len(list.Paths), got)
	}
	if list.Paths["version"] != before.Paths["version"] {
		t.Error("another server's word counts more than this one's")
	}
	for path, want := range map[string]bool{"/openapi/v3/apis/far.example.com/v1": true, "/openapi/v3/version": false, "/openapi/v3/apis/apps/v1": false} {
		if gv, ok := h.Elsewhere(path); ok != want || ok && gv != far {
			t.Errorf("%s is elsewhere: %v %v", path, gv, ok)
		}
	}
	var doc struct {
		Info        struct{ Title string }
		Paths       map[string]map[string]any
		Definitions map[string]struct {
			Description string
			Properties  map[string]map[string]any
		}
	}
	merged := read("/openapi/v2", &doc)
	if merged == plain {
		t.Error("another document has the same tag")
	}
	const meta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
	if doc.Info.Title != "Kubernetes" || doc.Paths["/apis/far.example.com/v1/gadgets"] == nil || doc.Paths["/api/v1/namespaces/{namespace}/pods"] == nil || doc.Paths["/apis/other.example.com/v1/things"] != nil {
		t.Errorf("%q, %d paths", doc.Info.Title, len(doc.Paths))
	}
	if ref := doc.Definitions["com.example.far.v1.Gadget"].Properties["metadata"]["$ref"]; ref != "#/definitions/"+meta+"_v2" || doc.Definitions[meta+"_v2"].Description != "theirs" {
		t.Errorf("their type of metadata is %v", ref)
	}
	if _, ok := doc.Definitions["com.example.other.v1.Thing"]; ok {
		t.Error("what they are not registered for is described")
	}

	h.SetRemotes([]openapi.Remote{{GroupVersion: far, V2: v2, V2Hash: hash}})
	list = index{}
	read("/openapi/v3", &list)
	var converted struct {
		OpenAPI string         `json:"openapi"`
		Paths   map[string]any `json:"paths"`
	}
	read(list.Paths["apis/far.example.com/v1"].URL, &converted)
	if converted.OpenAPI != "3.0.0" || converted.Paths["/apis/far.example.com/v1/gadgets"] == nil {
		t.Errorf("made of v2: %+v", converted)
	}
	if _, ok := h.Elsewhere("/openapi/v3/apis/far.example.com/v1"); ok {
		t.Error("what was made here is elsewhere")
	}

	h.SetRemotes(nil)
	if tag := read("/openapi/v2", &struct{}{}); tag != plain {
		t.Error("they have gone, and the document is another than before")
	}
}
