package extension_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// selectable is the definition of TestConversionWebhook with a selectable field in each version.
var selectable = func() string {
	s := converted
	for version, field := range map[string]string{"v1": "size", "v2": "length"} {
		s = strings.Replace(s, `{"name":"`+version+`",`, `{"name":"`+version+`","selectableFields":[{"jsonPath":".spec.`+field+`"}],`, 1)
	}
	return s
}()

// measured is an object of either version, as the tests print it.
type measured struct {
	Metadata struct{ Name, ResourceVersion string }
	Spec     struct{ Size, Length int }
}

func (g measured) String() string { return fmt.Sprint(g.Metadata.Name, g.Spec.Size+g.Spec.Length) }

// TestSelectableFieldsOfVersions checks that field selectors see objects in the requested version, even where the
// stored one differs.
func TestSelectableFieldsOfVersions(t *testing.T) {
	h := &hook{}
	h.set(honest)
	s := serve(t, h)
	v1, v2 := "/apis/shop.example.com/v1/gadgets", "/apis/shop.example.com/v2/gadgets"
	s.ask(t, "POST", definitions, selectable, 201)
	for name, size := range map[string]int{"a": 3, "b": 5, "c": 5} {
		s.ask(t, "POST", v1, fmt.Sprintf(`{"apiVersion":"shop.example.com/v1","kind":"Gadget","metadata":{"name":%q},"spec":{"size":%d}}`, name, size), 201)
	}
	s.ask(t, "POST", v2, `{"apiVersion":"shop.example.com/v2","kind":"Gadget","metadata":{"name":"d"},"spec":{"length":5}}`, 201)

	var list struct {
		Metadata struct{ Continue, ResourceVersion string }
		Items    []measured
	}
	read := func(path, selector string, code int) string {
		t.Helper()
		text := s.ask(t, "GET", path+"?"+selector, "", code)
		list.Items, list.Metadata.Continue = nil, ""
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, g := range list.Items {
			all = append(all, g.String())
		}
		return strings.Join(all, " ")
	}
	selector := func(s string) string { return "fieldSelector=" + url.QueryEscape(s) }
	for _, q := range []struct{ path, selector, want string }{
		{v2, "spec.length=5", "b5 c5 d5"},
		{v2, "spec.length!=5", "a3"},
		{v2, "spec.length=4", ""},
		{v2, "spec.length=5,metadata.name=c", "c5"},
		{v2, "spec.length=5,metadata.name!=c", "b5 d5"},
		{v1, "spec.size=5", "b5 c5 d5"},
		{v1, "spec.size!=5", "a3"},
	} {
		if got := read(q.path, selector(q.selector), 200); got != q.want {
			t.Errorf("%s?%s: %q, want %q", q.path, q.selector, got, q.want)
		}
	}
	read(v2, selector("spec.size=5"), 400)
	if got := read(v2, selector("spec.length=5")+"&limit=2", 200); got != "b5 c5" || list.Metadata.Continue == "" {
		t.Errorf("the first page: %q, continue %q", got, list.Metadata.Continue)
	}
	if got := read(v2, selector("spec.length=5")+"&limit=2&continue="+list.Metadata.Continue, 200); got != "d5" || list.Metadata.Continue != "" {
		t.Errorf("the second page: %q, continue %q", got, list.Metadata.Continue)
	}

	// Watches from now and from a revision, in both versions.
	watches := map[string]*json.Decoder{}
	for name, path := range map[string]string{
		"v2 from now":        v2 + "?watch=1&timeoutSeconds=30&" + selector("spec.length=5"),
		"v2 with a list":     v2 + "?watch=1&timeoutSeconds=30&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&" + selector("spec.length=5"),
		"v2 from a revision": v2 + "?watch=1&timeoutSeconds=30&resourceVersion=" + list.Metadata.ResourceVersion + "&" + selector("spec.length=5"),
		"v1 from a revision": v1 + "?watch=1&timeoutSeconds=30&resourceVersion=" + list.Metadata.ResourceVersion + "&" + selector("spec.size=5"),
	} {
		resp := s.open(t, "GET", path, "")
		defer resp.Body.Close()
		watches[name] = json.NewDecoder(resp.Body)
	}
	s.ask(t, "PATCH", v2+"/a", `{"spec":{"length":5}}`, 200)
	s.ask(t, "PATCH", v1+"/b", `{"spec":{"size":6}}`, 200)
	s.ask(t, "PATCH", v1+"/b", `{"spec":{"size":7}}`, 200)
	s.ask(t, "PATCH", v2+"/c", `{"metadata":{"labels":{"x":"y"}}}`, 200)
	s.ask(t, "DELETE", v2+"/c", "", 200)
	late := s.open(t, "GET", v2+"?watch=1&timeoutSeconds=30&resourceVersion="+list.Metadata.ResourceVersion+"&"+selector("spec.length=5"), "")
	defer late.Body.Close()
	watches["v2 of the past"] = json.NewDecoder(late.Body)
	changes := []string{"ADDED a5", "DELETED b5", "MODIFIED c5", "DELETED c5"}
	for name, d := range watches {
		want := changes
		switch name {
		case "v2 from now":
			want = append([]string{"ADDED b5", "ADDED c5", "ADDED d5"}, changes...)
		case "v2 with a list":
			want = append([]string{"ADDED b5", "ADDED c5", "ADDED d5", "BOOKMARK 0"}, changes...)
		}
		var got []string
		for len(got) < len(want) {
			var e struct {
				Type   string
				Object measured
			}
			if err := d.Decode(&e); err != nil {
				t.Fatalf("%s: %v behind %q", name, err, got)
			}
			got = append(got, e.Type+" "+e.Object.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, want)
		}
	}

	s.ask(t, "DELETE", v2+"?"+selector("spec.length=5"), "", 200)
	if got := read(v2, "", 200); got != "b7" {
		t.Errorf("left by a delete of a collection: %q", got)
	}
}
