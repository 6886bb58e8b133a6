package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
)

var ctx = context.Background()

// script is a server that answers each request by a function and records requests.
type script struct {
	t    *testing.T
	mu   sync.Mutex
	seen []string // METHOD path?query
	body []string
	head []http.Header
	h    http.HandlerFunc
}

// scripted returns a client over memory: the handler is the wire. /api/v1 and
// /apis/apps/v1 are answered as discovery.
func scripted(t *testing.T, o client.Options, h http.HandlerFunc) (*client.Client, *script) {
	s := &script{t: t, h: h}
	c, err := client.New(&rest.Config{Transport: s}, o)
	if err != nil {
		t.Fatal(err)
	}
	return c, s
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path == "/api/v1" || r.URL.Path == "/apis/apps/v1" {
		l := metav1.APIResourceList{APIResources: []metav1.APIResource{
			{Name: "pods", Kind: "Pod", Namespaced: true}, {Name: "pods/status", Kind: "Pod", Namespaced: true},
			{Name: "pods/eviction", Kind: "Eviction", Group: "policy", Version: "v1", Namespaced: true},
			{Name: "events", Kind: "Event", Namespaced: true}, {Name: "nodes", Kind: "Node"},
		}}
		if r.URL.Path != "/api/v1" {
			l.APIResources = []metav1.APIResource{{Name: "deployments", Kind: "Deployment", Namespaced: true, Verbs: []string{"get", "list"}}}
		}
		rec := httptest.NewRecorder()
		json.NewEncoder(rec).Encode(l)
		return rec.Result(), nil
	}
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	q := r.Method + " " + r.URL.Path
	if r.URL.RawQuery != "" {
		q += "?" + r.URL.RawQuery
	}
	s.mu.Lock()
	s.seen, s.body, s.head = append(s.seen, q), append(s.body, string(body)), append(s.head, r.Header)
	s.mu.Unlock()
	rec := httptest.NewRecorder()
	s.h(rec, r)
	return rec.Result(), nil
}

func (s *script) asked(want ...string) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !reflect.DeepEqual(s.seen, want) {
		s.t.Errorf("asked %q\nwant  %q", s.seen, want)
	}
}

func answer(v any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { json.NewEncoder(w).Encode(v) }
}

func TestVerbsOnTheWire(t *testing.T) {
	c, s := scripted(t, client.Options{UserAgent: "tester/1"}, answer(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}}))
	pods := client.For[*corev1.Pod](c).Namespace("default")
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"}}
	force, uid := true, "u"
	for _, call := range []func() error{
		func() error { _, err := pods.Get(ctx, "web", metav1.GetOptions{ResourceVersion: "5"}); return err },
		func() error { _, err := pods.List(ctx, metav1.ListOptions{LabelSelector: "a=b", Limit: 2}); return err },
		func() error { _, err := pods.Namespace("").List(ctx); return err },
		func() error {
			_, err := pods.Namespace("").Create(ctx, pod, metav1.CreateOptions{DryRun: []string{"All"}})
			return err
		},
		func() error { _, err := pods.Update(ctx, pod); return err },
		func() error {
			_, err := pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{FieldManager: "m"})
			return err
		},
		func() error {
			_, err := pods.Patch(ctx, "web", client.MergePatch(map[string]int{"x": 1}).On("status"))
			return err
		},
		func() error {
			_, err := pods.Patch(ctx, "web", client.ApplyPatch(pod), metav1.PatchOptions{FieldManager: "m", Force: &force})
			return err
		},
		func() error {
			return pods.Delete(ctx, "web", *metav1.NewPreconditionDeleteOptions(uid))
		},
		func() error {
			return pods.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{FieldSelector: "spec.nodeName=n1"})
		},
		func() error {
			return pods.CreateSubresource(ctx, "web", "eviction", &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, nil)
		},
		func() error { _, err := client.For[*corev1.Node](c).Namespace("ignored").Get(ctx, "n1"); return err },
		func() error { _, err := client.For[*appsv1.Deployment](c).Namespace("x").Get(ctx, "d"); return err },
	} {
		if err := call(); err != nil {
			t.Error(err)
		}
	}
	s.asked(
		"GET /api/v1/namespaces/default/pods/web?resourceVersion=5",
		"GET /api/v1/namespaces/default/pods?labelSelector=a%3Db&limit=2",
		"GET /api/v1/pods",
		"POST /api/v1/namespaces/default/pods?dryRun=All",
		"PUT /api/v1/namespaces/default/pods/web",
		"PUT /api/v1/namespaces/default/pods/web/status?fieldManager=m",
		"PATCH /api/v1/namespaces/default/pods/web/status",
		"PATCH /api/v1/namespaces/default/pods/web?fieldManager=m&force=true",
		"DELETE /api/v1/namespaces/default/pods/web",
		"DELETE /api/v1/namespaces/default/pods?fieldSelector=spec.nodeName%3Dn1",
		"POST /api/v1/namespaces/default/pods/web/eviction",
		"GET /api/v1/nodes/n1",
		"GET /apis/apps/v1/namespaces/x/deployments/d",
	)
	for i, want := range map[int]string{
		3: `"kind":"Pod","apiVersion":"v1"`, 6: `{"x":1}`, 8: `"preconditions":{"uid":"u"}`, 10: `"kind":"Eviction","apiVersion":"policy/v1"`,
	} {
		if !strings.Contains(s.body[i], want) {
			t.Errorf("body of %s is %s, without %s", s.seen[i], s.body[i], want)
		}
	}
	if pod.Kind != "" {
		t.Error("the caller's object was changed")
	}
	if ct := s.head[7].Get("Content-Type"); ct != "application/apply-patch+yaml" {
		t.Errorf("apply as %s", ct)
	}
	if ua := s.head[0].Get("User-Agent"); ua != "tester/1" {
		t.Errorf("user agent %q", ua)
	}
}

func TestNamesThatLeadElsewhere(t *testing.T) {
	c, s := scripted(t, client.Options{}, answer(&corev1.Pod{}))
	pods := client.For[*corev1.Pod](c)
	for _, name := range []string{"", "..", "a/b", "a%2fb"} {
		if _, err := pods.Namespace("default").Get(ctx, name); err == nil {
			t.Errorf("name %q was taken", name)
		}
	}
	if _, err := pods.Namespace("a/b").Get(ctx, "web"); err == nil {
		t.Error("namespace a/b was taken")
	}
	if _, err := pods.Get(ctx, "web"); err == nil {
		t.Error("a namespaced object without namespace")
	}
	s.asked()
}

func TestErrors(t *testing.T) {
	st := apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, "web", fmt.Errorf("changed")).Status()
	st.Kind, st.APIVersion = "Status", "v1"
	c, _ := scripted(t, client.Options{}, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/conflict"):
			w.WriteHeader(409)
			json.NewEncoder(w).Encode(st)
		case strings.HasSuffix(r.URL.Path, "/proxy"):
			http.Error(w, "bad gateway", http.StatusBadGateway)
		default:
			http.NotFound(w, r)
		}
	})
	pods := client.For[*corev1.Pod](c).Namespace("default")
	_, err := pods.Get(ctx, "conflict")
	if !apierrors.IsConflict(err) || err.Error() != st.Message {
		t.Errorf("%v", err)
	}
	if _, err = pods.Get(ctx, "gone"); !apierrors.IsNotFound(err) || !strings.Contains(err.Error(), "get pods gone") {
		t.Errorf("%v", err)
	}
	if _, err = pods.Get(ctx, "proxy"); !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "bad gateway") {
		t.Errorf("%v", err)
	}
	type unknown struct{ corev1.Pod }
	if _, err = client.For[*unknown](c).List(ctx); err == nil {
		t.Error("a type outside the scheme was listed")
	}
	if _, err = client.For[*corev1.Secret](c).Namespace("x").Get(ctx, "s"); !meta.IsNoMatchError(err) {
		t.Errorf("a kind the server has not: %v", err)
	}
}

func TestRetryAfter(t *testing.T) {
	left := 2
	c, s := scripted(t, client.Options{}, func(w http.ResponseWriter, r *http.Request) {
		if left--; left >= 0 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader([]int{429, 503}[left])
			return
		}
		answer(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}})(w, r)
	})
	pods := client.For[*corev1.Pod](c).Namespace("default")
	if _, err := pods.Create(ctx, &corev1.Pod{}); err != nil {
		t.Fatal(err)
	}
	if len(s.seen) != 3 || s.body[2] != s.body[0] || s.body[2] == "" {
		t.Errorf("%d requests, bodies %q", len(s.seen), s.body)
	}

	// An hour is longer than the caller's deadline: the error is returned at once.
	c, s = scripted(t, client.Options{}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(429)
	})
	short, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if _, err := client.For[*corev1.Pod](c).Namespace("default").Get(short, "web"); !apierrors.IsTooManyRequests(err) {
		t.Errorf("%v", err)
	}
	s.asked("GET /api/v1/namespaces/default/pods/web")

	// 503 without Retry-After is not repeated.
	c, s = scripted(t, client.Options{}, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(503) })
	if _, err := client.For[*corev1.Pod](c).Namespace("default").Get(ctx, "web"); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("%v", err)
	}
	s.asked("GET /api/v1/namespaces/default/pods/web")
}

func TestPages(t *testing.T) {
	c, s := scripted(t, client.Options{}, func(w http.ResponseWriter, r *http.Request) {
		l := corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "9"}}
		l.Items = []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "p" + r.URL.Query().Get("continue")}}}
		if r.URL.Query().Get("continue") == "" {
			l.Continue = "next"
		}
		answer(l)(w, r)
	})
	var names []string
	for page, err := range client.For[*corev1.Pod](c).Pages(ctx, metav1.ListOptions{Limit: 1, ResourceVersion: "9"}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range page.Items {
			names = append(names, p.Kind+"/"+p.Name)
		}
	}
	if fmt.Sprint(names) != "[Pod/p Pod/pnext]" {
		t.Error(names)
	}
	s.asked("GET /api/v1/pods?limit=1&resourceVersion=9", "GET /api/v1/pods?continue=next&limit=1")
}

func TestDynamicAndMetadata(t *testing.T) {
	gvr := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	c, s := scripted(t, client.Options{}, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"a","labels":{"x":"y"}},"spec":{"nodeName":"n"}}]}`)
	})
	l, err := client.Dynamic(c, gvr, true).List(ctx)
	if err != nil || len(l.Items) != 1 || l.ResourceVersion != "7" {
		t.Fatalf("%v %v", l, err)
	}
	u := l.Items[0]
	if n, _, _ := unstructured.NestedString(u.Object, "spec", "nodeName"); n != "n" || u.GetKind() != "Pod" || u.GetAPIVersion() != "v1" {
		t.Errorf("%v", u)
	}
	m, err := client.Metadata(c, gvr, true).List(ctx)
	if err != nil || len(m.Items) != 1 || m.Items[0].Labels["x"] != "y" {
		t.Fatalf("%v %v", m, err)
	}
	if a := s.head[1].Get("Accept"); a != "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json" {
		t.Errorf("accept %s", a)
	}
}

// TestProtobuf holds our framing against apimachinery's.
func TestProtobuf(t *testing.T) {
	codec := protobuf.NewSerializer(client.Scheme, client.Scheme)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", ResourceVersion: "3"}, Spec: corev1.PodSpec{NodeName: "n1"}}
	pod.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	list := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "8", Continue: "c"}, Items: []corev1.Pod{*pod, *pod}}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
	encode := func(w io.Writer, obj runtime.Object) {
		if err := codec.Encode(obj, w); err != nil {
			t.Error(err)
		}
	}
	var sent corev1.Pod
	c, s := scripted(t, client.Options{ContentType: client.ContentTypeProtobuf}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", client.ContentTypeProtobuf)
		switch {
		case r.Method == "GET" && strings.HasSuffix(r.URL.Path, "/pods"):
			encode(w, list)
		case strings.HasSuffix(r.URL.Path, "/gone"):
			w.WriteHeader(404)
			st := apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, "gone").Status()
			st.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Status"})
			encode(w, &st)
		default:
			encode(w, pod)
		}
	})
	pods := client.For[*corev1.Pod](c).Namespace("default")
	got, err := pods.Get(ctx, "web")
	if err != nil || !reflect.DeepEqual(got, pod) {
		t.Errorf("%v %v", got, err)
	}
	l, err := pods.List(ctx)
	if err != nil || len(l.Items) != 2 || !reflect.DeepEqual(l.Items[1], pod) || l.ResourceVersion != "8" || l.Continue != "c" {
		t.Errorf("%v %v", l, err)
	}
	if _, err := pods.Get(ctx, "gone"); !apierrors.IsNotFound(err) {
		t.Errorf("%v", err)
	}
	if _, err := pods.Update(ctx, pod); err != nil {
		t.Error(err)
	}
	if _, _, err := codec.Decode([]byte(s.body[3]), nil, &sent); err != nil || sent.Spec.NodeName != "n1" {
		t.Errorf("sent %v, %v", sent, err)
	}
	if a := s.head[0].Get("Accept"); a != "application/vnd.kubernetes.protobuf,application/json" {
		t.Errorf("accept %s", a)
	}
}

func TestServerResources(t *testing.T) {
	c, _ := scripted(t, client.Options{}, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api": // a server that knows only the old form
			io.WriteString(w, `{"kind":"APIVersions","versions":["v1"]}`)
		case "/apis": // and one that knows the new
			io.WriteString(w, `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[
			  {"metadata":{"name":"example.com"},"versions":[
			    {"version":"v1","freshness":"Current","resources":[{"resource":"widgets","responseKind":{"group":"example.com","version":"v1","kind":"Widget"},"scope":"Namespaced","verbs":["list","watch"],
			      "subresources":[{"subresource":"status","verbs":["get"]}]}]},
			    {"version":"v1beta1","freshness":"Stale"}]}]}`)
		}
	})
	rs, err := c.ServerResources(ctx)
	if err == nil || !strings.Contains(err.Error(), "unable to retrieve the complete list of server APIs: example.com/v1beta1: stale GroupVersion discovery: example.com/v1beta1") {
		t.Errorf("error %v", err)
	}
	found := map[string]client.APIResource{}
	for _, r := range rs {
		found[r.GVR.Resource] = r
	}
	if len(found) != 4 || found["nodes"].Namespaced || !found["pods"].Namespaced || !found["pods"].Preferred {
		t.Errorf("%v", found)
	}
	w := found["widgets"]
	if w.Kind != (schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}) || !w.Can("list", "watch") || w.Can("delete") {
		t.Errorf("%v", w)
	}
	m, err := c.Mapping(ctx, w.Kind)
	if err != nil || m.GVR != w.GVR || !m.Namespaced {
		t.Errorf("%v %v", m, err)
	}
}

func TestMergeFrom(t *testing.T) {
	old := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", ResourceVersion: "4", Labels: map[string]string{"a": "1", "b": "2"}}}
	now := old.DeepCopy()
	delete(now.Labels, "b")
	now.Spec.NodeName = "n"
	if got := string(client.MergeFrom(old, now).Data); got != `{"metadata":{"labels":{"b":null}},"spec":{"nodeName":"n"}}` {
		t.Error(got)
	}
	if got := string(client.MergeFromLocked(old, now).Data); !strings.Contains(got, `"resourceVersion":"4"`) {
		t.Error(got)
	}
	if !client.MergeFrom(old, old).IsEmpty() {
		t.Error("a difference from itself")
	}
}

func TestRetryOnConflict(t *testing.T) {
	n := 0
	err := client.RetryOnConflict(ctx, func() error {
		if n++; n < 3 {
			return apierrors.NewConflict(schema.GroupResource{}, "x", nil)
		}
		return nil
	})
	if n != 3 || err != nil {
		t.Errorf("%d calls, %v", n, err)
	}
}

// TestGetIsRepeatedOnABrokenConnection over a real socket: a GET is, a POST is not.
func TestGetIsRepeatedOnABrokenConnection(t *testing.T) {
	var broken atomic.Int32
	broken.Store(2)
	var posts atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			posts.Add(1)
		}
		if r.URL.Path != "/api/v1" && broken.Add(-1) >= 0 {
			panic(http.ErrAbortHandler)
		}
		if r.URL.Path == "/api/v1" {
			io.WriteString(w, `{"resources":[{"name":"pods","kind":"Pod","namespaced":true}]}`)
			return
		}
		answer(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}})(w, r)
	}))
	defer srv.Close()
	c, err := client.New(&rest.Config{Host: srv.URL}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	pods := client.For[*corev1.Pod](c).Namespace("default")
	if p, err := pods.Get(ctx, "web"); err != nil || p.Name != "web" {
		t.Errorf("%v %v", p, err)
	}
	broken.Store(1)
	if _, err := pods.Create(ctx, &corev1.Pod{}); err == nil || posts.Load() != 1 {
		t.Errorf("create on a broken connection: %v after %d sendings", err, posts.Load())
	}
}

// warnings records a server's warnings.
type warnings []string

func (w *warnings) HandleWarningHeader(code int, _ string, text string) {
	*w = append(*w, fmt.Sprint(code, " ", text))
}

func TestWarnings(t *testing.T) {
	var w warnings
	s := &script{t: t, h: func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Add("Warning", `299 - "v1 Pod is old"`)
		answer(&corev1.Pod{})(rw, r)
	}}
	c, err := client.New(&rest.Config{Transport: s, WarningHandler: &w}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.For[*corev1.Pod](c).Namespace("x").Get(ctx, "y"); err != nil || fmt.Sprint(w) != "[299 v1 Pod is old]" {
		t.Errorf("%v %v", w, err)
	}
}
