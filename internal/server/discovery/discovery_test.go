package discovery_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"fairlead.dev/internal/resource"
	server "fairlead.dev/internal/server/discovery"
)

var all = []string{"watch", "create", "delete", "deletecollection", "get", "list", "patch", "update"}

func table() []*resource.Resource {
	v := func(names ...string) (list []resource.Version) {
		for _, n := range names {
			list = append(list, resource.Version{Name: n})
		}
		return list
	}
	status := resource.Subresource{Name: "status", Kind: "Deployment", Verbs: []string{"update", "get", "patch"}}
	scale := resource.Subresource{Name: "scale", Kind: "Scale", Group: "autoscaling", Version: "v1", Verbs: []string{"get", "patch", "update"}}
	return []*resource.Resource{
		{Plural: "pods", Singular: "pod", Kind: "Pod", ShortNames: []string{"po"}, Categories: []string{"all"}, Namespaced: true,
			StoragePrefix: "/registry/pods", StorageVersion: "v1", Versions: v("v1"), Verbs: all},
		{Plural: "namespaces", Singular: "namespace", Kind: "Namespace", ShortNames: []string{"ns"},
			StoragePrefix: "/registry/namespaces", StorageVersion: "v1", Versions: v("v1"), Verbs: all},
		{Group: "apps", Plural: "deployments", Singular: "deployment", Kind: "Deployment", ShortNames: []string{"deploy"}, Namespaced: true,
			StoragePrefix: "/registry/deployments", StorageVersion: "v1", Versions: v("v1"), Verbs: all,
			Subresources: []resource.Subresource{status, scale}},
		{Group: "autoscaling", Plural: "horizontalpodautoscalers", Singular: "horizontalpodautoscaler", Kind: "HorizontalPodAutoscaler", Namespaced: true,
			StoragePrefix: "/registry/horizontalpodautoscalers", StorageVersion: "v2", Versions: v("v1", "v2"), Verbs: all},
		{Group: "authentication.k8s.io", Plural: "tokenreviews", Singular: "tokenreview", Kind: "TokenReview",
			Virtual: true, Versions: v("v1"), Verbs: []string{"create"}},
	}
}

// TestClientGo reads the resources through client-go in both forms and compares them.
func TestClientGo(t *testing.T) {
	srv := httptest.NewServer(server.New(table()))
	defer srv.Close()
	c := discovery.NewDiscoveryClientForConfigOrDie(&rest.Config{Host: srv.URL})
	byVersion := func(a, b *metav1.APIResourceList) int { return strings.Compare(a.GroupVersion, b.GroupVersion) }
	var results [][]*metav1.APIResourceList
	for _, legacy := range []bool{false, true} {
		c.UseLegacyDiscovery = legacy
		groups, lists, err := c.ServerGroupsAndResources()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, g := range groups {
			names = append(names, g.Name)
			if g.Name == "autoscaling" && g.PreferredVersion.Version != "v2" {
				t.Errorf("autoscaling prefers %s", g.PreferredVersion.Version)
			}
		}
		if want := []string{"", "apps", "authentication.k8s.io", "autoscaling"}; !slices.Equal(names, want) {
			t.Errorf("groups are %q, want %q", names, want)
		}
		slices.SortFunc(lists, byVersion)
		results = append(results, lists)
	}
	for _, l := range results[1] { // only one form has these fields
		l.APIVersion, l.Kind = "", ""
		for i := range l.APIResources {
			l.APIResources[i].StorageVersionHash = ""
		}
	}
	for _, l := range results[0] {
		l.APIVersion, l.Kind = "", ""
		for i := range l.APIResources {
			r := &l.APIResources[i]
			if gv := (metav1.GroupVersion{Group: r.Group, Version: r.Version}); gv.String() == l.GroupVersion {
				r.Group, r.Version = "", ""
			}
			if strings.Contains(r.Name, "/") {
				r.SingularName = "" // client-go repeats the parent's
			}
		}
	}
	if d := cmp.Diff(results[0], results[1]); d != "" {
		t.Errorf("aggregated (-) and older (+) discovery differ:\n%s", d)
	}
	var deployments []metav1.APIResource
	for _, l := range results[0] {
		if l.GroupVersion == "apps/v1" {
			deployments = l.APIResources
		}
	}
	if len(deployments) != 3 || deployments[1].Name != "deployments/scale" || deployments[1].Group != "autoscaling" || deployments[1].Kind != "Scale" {
		t.Errorf("apps/v1 is %+v", deployments)
	}
}

func get(t *testing.T, url, accept, ifNoneMatch string) (*http.Response, string) {
	t.Helper()
	r, _ := http.NewRequest("GET", url, nil)
	r.Header.Set("Accept", accept)
	if ifNoneMatch != "" {
		r.Header.Set("If-None-Match", ifNoneMatch)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return resp, string(body)
}

// TestFor checks that the documents of two servers are their own once the resources of one have changed.
func TestFor(t *testing.T) {
	rows := table()
	first := server.New(rows)
	second := first.For(slices.Clone(rows))
	get := func(h http.Handler) string {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/apis/apps/v1", nil))
		return w.Body.String()
	}
	if a, b := get(first), get(second); a != b || !strings.Contains(a, "deployments") {
		t.Fatalf("got %s, and of the other %s", a, b)
	}
	second.Set(rows[:2])
	if got := get(second); strings.Contains(got, "deployments") {
		t.Errorf("without its resource, the group has %s", got)
	}
	if got := get(first); !strings.Contains(got, "deployments") {
		t.Errorf("after the change of the other, the first has %s", got)
	}
}

func TestEncodings(t *testing.T) {
	srv := httptest.NewServer(server.New(table()))
	defer srv.Close()
	const aggregated = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	for _, c := range []struct {
		path, accept, contentType, begins string
		code                              int
	}{
		{"/api", "", "application/json", `{"kind":"APIVersions","versions":["v1"]`, 200},
		{"/api/", "*/*", "application/json", `{"kind":"APIVersions"`, 200},
		{"/apis", "application/json", "application/json", `{"kind":"APIGroupList","apiVersion":"v1"`, 200},
		{"/apis/apps", "", "application/json", `{"kind":"APIGroup","apiVersion":"v1","name":"apps"`, 200},
		{"/apis/apps/v1", "application/vnd.kubernetes.protobuf,application/json", "application/vnd.kubernetes.protobuf", "k8s\x00", 200},
		{"/apis", "application/json" + aggregated + ",application/json", "application/json" + aggregated, `{"kind":"APIGroupDiscoveryList"`, 200},
		{"/api", "application/vnd.kubernetes.protobuf" + aggregated, "application/vnd.kubernetes.protobuf" + aggregated, "k8s\x00", 200},
		{"/apis", "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json", "application/json", `{"kind":"APIGroupList"`, 200},
		{"/apis", "text/html", "application/json", "{\n  \"kind\": \"Status\"", 406},
		{"/apis/nope", "", "text/plain; charset=utf-8", "404", 404},
		{"/apis/apps/v2", "", "text/plain; charset=utf-8", "404", 404},
	} {
		resp, body := get(t, srv.URL+c.path, c.accept, "")
		if resp.StatusCode != c.code || resp.Header.Get("Content-Type") != c.contentType || !strings.HasPrefix(body, c.begins) {
			t.Errorf("%s as %q: %d %q %.60q", c.path, c.accept, resp.StatusCode, resp.Header.Get("Content-Type"), body)
		}
	}
}

func TestETag(t *testing.T) {
	h := server.New(table())
	srv := httptest.NewServer(h)
	defer srv.Close()
	const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	first, _ := get(t, srv.URL+"/apis", accept, "")
	tag := first.Header.Get("ETag")
	if again, body := get(t, srv.URL+"/apis", accept, tag); tag == "" || again.StatusCode != 304 || body != "" {
		t.Fatalf("with ETag %q: %d %q", tag, again.StatusCode, body)
	}
	h.Set(table()[:4])
	if changed, _ := get(t, srv.URL+"/apis", accept, tag); changed.StatusCode != 200 || changed.Header.Get("ETag") == tag {
		t.Fatalf("after a change: %d", changed.StatusCode)
	}
}
