package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/server"
)

// fuzzed are pods that selectors tell apart.
var fuzzed = []struct {
	labels labels.Set
	fields fields.Set
}{
	{labels.Set{}, fields.Set{"spec.nodeName": "", "spec.hostNetwork": "false"}},
	{labels.Set{"a": ""}, fields.Set{"spec.nodeName": "n1", "spec.hostNetwork": "false"}},
	{labels.Set{"a": "b"}, fields.Set{"spec.nodeName": "n2", "spec.hostNetwork": "true"}},
	{labels.Set{"a": "5", "b": "c"}, fields.Set{"spec.nodeName": "n1", "spec.hostNetwork": "false"}},
	{labels.Set{"x.y/z": "1"}, fields.Set{"spec.nodeName": "n1", "spec.hostNetwork": "false"}},
	{labels.Set{"b": "12", "c": "b"}, fields.Set{"spec.nodeName": "n3", "spec.hostNetwork": "true"}},
}

func fuzzServer(f *testing.F) *cluster {
	c := start(f)
	rt := server.Transport(c.server, &auth.User{Name: "fuzz"})
	for i := range fuzzed {
		o := &fuzzed[i]
		o.fields["metadata.name"], o.fields["metadata.namespace"] = fmt.Sprint("p", i), "default"
		text, _ := json.Marshal(o.labels)
		body := fmt.Sprintf(`{"metadata":{"name":"p%d","labels":%s},"spec":{"nodeName":%q,"hostNetwork":%s,"containers":[{"name":"c","image":"i"}]}}`,
			i, text, o.fields["spec.nodeName"], o.fields["spec.hostNetwork"])
		req, _ := http.NewRequest("POST", "http://memory/api/v1/namespaces/default/pods", strings.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		resp, err := rt.RoundTrip(req)
		if err != nil || resp.StatusCode != http.StatusCreated {
			f.Fatal(resp, err)
		}
		resp.Body.Close()
	}
	return c
}

// FuzzListOptions gives lists and watches arbitrary parameters. The response is a list, a stream
// of events, or a Status whose code is that of the response.
func FuzzListOptions(f *testing.F) {
	c := fuzzServer(f)
	for _, q := range []string{
		"", "watch=1", "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
		"limit=2", "limit=2&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiYlx1MDAwMCJ9",
		"resourceVersion=3&resourceVersionMatch=Exact", "resourceVersion=18446744073709551615", "limit=-9223372036854775808",
		"watch=1&timeoutSeconds=9223372036854775807&resourceVersion=1", "labelSelector=a+in+(b,c),!d&fieldSelector=metadata.name!%3Dp1",
		"pretty=1&watch=x", "limit=1;watch=1", "%zz=1", "continue=%00&limit=1",
	} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, query string) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		req := httptest.NewRequestWithContext(ctx, "GET", "/api/v1/namespaces/default/pods", nil)
		req.URL.RawQuery = query
		w := httptest.NewRecorder()
		c.server.ServeHTTP(w, req)
		d := json.NewDecoder(bytes.NewReader(w.Body.Bytes()))
		for n := 0; ; n++ {
			var v struct {
				Kind, Type string
				Code       int
				Object     json.RawMessage
			}
			if !d.More() {
				if n == 0 && w.Code != http.StatusOK && ctx.Err() == nil {
					t.Fatalf("%d without a word", w.Code)
				}
				return
			}
			if err := d.Decode(&v); err != nil {
				t.Fatalf("%d %v: %s", w.Code, err, w.Body)
			}
			switch {
			case w.Code != http.StatusOK && v.Kind == "Status" && v.Code == w.Code:
				if strings.Contains(w.Body.String(), "panic") && !strings.Contains(query, "panic") {
					t.Fatalf("%s", w.Body)
				}
			case w.Code == http.StatusOK && (v.Kind == "PodList" || v.Type != "" && len(v.Object) > 0):
			default:
				t.Fatalf("%d: %s", w.Code, w.Body)
			}
		}
	})
}

// FuzzSelectors compares the objects that lists select with apimachinery's selectors.
func FuzzSelectors(f *testing.F) {
	c := fuzzServer(f)
	for _, s := range [][2]string{
		{"", ""}, {"a", "spec.nodeName=n1"}, {"!a", "spec.nodeName!=n1"}, {"a in (b,5),b notin (c)", "metadata.name=p2"},
		{"a!=b", "spec.hostNetwork=true,spec.nodeName=n2"}, {"a>4", "metadata.name!=p0"}, {"b<13,c=b", ""}, {"a=", "spec.nodeName="},
		{"x.y/z in (1)", "metadata.namespace=default"}, {"a==b,a!=b", "metadata.name=p1,metadata.name=p2"}, {"a in (),b", `metadata.name=p\,`},
	} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, label, field string) {
		ls, err := labels.Parse(label)
		fs, err2 := fields.ParseSelector(field)
		bad := err != nil || err2 != nil
		if !bad {
			for _, r := range fs.Requirements() {
				if _, ok := fuzzed[0].fields[r.Field]; !ok {
					return // internal/server/semantics checks which fields are selectable
				}
			}
		}
		q := url.Values{"labelSelector": {label}, "fieldSelector": {field}}
		w := httptest.NewRecorder()
		c.server.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/api/v1/pods?"+q.Encode(), nil))
		if bad {
			if w.Code != http.StatusBadRequest {
				t.Fatalf("%d for what cannot be parsed: %v %v", w.Code, err, err2)
			}
			return
		}
		var list struct {
			Items []struct{ Metadata struct{ Name string } }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || w.Code != http.StatusOK {
			t.Fatalf("%d %v: %s", w.Code, err, w.Body)
		}
		var got, want []string
		for _, it := range list.Items {
			got = append(got, it.Metadata.Name)
		}
		for _, o := range fuzzed {
			if ls.Matches(o.labels) && fs.Matches(o.fields) {
				want = append(want, o.fields["metadata.name"])
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q %q selects %v, want %v", label, field, got, want)
		}
	})
}
