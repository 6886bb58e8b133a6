package server_test

import (
	"compress/gzip"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"

	"net/http"
	"time"

	"golang.org/x/net/http2"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/server"
)

// fill creates n config maps m000, m001, ... and returns the last revision.
func (c *cluster) fill(n int) (rev string) {
	c.t.Helper()
	for i := range n {
		rev = c.must("POST "+maps, fmt.Sprintf(`{"metadata":{"name":"m%03d","labels":{"odd":"%d"}},"data":{"k":"v"}}`, i, i%2)).text("metadata.resourceVersion")
	}
	return rev
}

func TestList(t *testing.T) {
	c := start(t)
	rev := c.fill(4)
	c.must("POST /api/v1/namespaces/other/configmaps", mapA)
	c.talk([]exchange{
		{send: "GET " + maps, code: 200, want: []string{`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"`, `"items":[{"metadata":{`, `"name":"m003"`, `!"name":"a"`, `!"kind":"ConfigMap",`}},
		{send: "GET /api/v1/configmaps", code: 200, want: []string{`"name":"m003"`, `"name":"a"`}},
		{send: "GET /api/v1/namespaces/none/configmaps", code: 200, want: []string{`"items":[]}`}},
		{send: "GET " + maps + "?labelSelector=odd%3D1", code: 200, want: []string{`m001`, `m003`, `!m000`}},
		{send: "GET " + maps + "?labelSelector=%3D1", code: 400, want: []string{`found '=', expected: !, identifier, or 'end of string'`}},
		{send: "GET " + maps + "?fieldSelector=metadata.name%3Dm002", code: 200, want: []string{`m002`, `!m001`}},
		{send: "GET " + maps + "?fieldSelector=metadata.name!%3Dm002", code: 200, want: []string{`!m002`, `m001`}},
		{send: "GET " + maps + "?fieldSelector=data%3Dx", code: 400, want: []string{`\"data\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"`}},
		{send: "GET " + maps + "?resourceVersion=0", code: 200, want: []string{`m003`}},
		{send: "GET " + maps + "?resourceVersion=2&resourceVersionMatch=Exact", code: 200, want: []string{`"metadata":{"resourceVersion":"2"}`, `m000`, `!m001`}},
		{send: "GET " + maps + "?resourceVersion=2&resourceVersionMatch=NotOlderThan", code: 200, want: []string{`m003`}},
		{send: "GET " + maps + "?resourceVersion=2&resourceVersionMatch=Odd", code: 422, want: []string{`resourceVersionMatch: Unsupported value: \"Odd\"`}},
		{send: "GET " + maps + "?resourceVersionMatch=Exact", code: 422, want: []string{`resourceVersionMatch is forbidden unless resourceVersion is provided`}},
		{send: "GET " + maps + "?sendInitialEvents=true", code: 422, want: []string{`sendInitialEvents is forbidden for list`}},
		{send: "GET " + maps + "?resourceVersion=zero", code: 400, want: []string{`invalid resource version`}},
		{send: "GET " + maps, headers: []string{asTable}, code: 200, want: []string{`"kind":"Table"`, `"rows":[{"cells":["m000",`, `]}`}},
		{send: "GET " + maps, headers: []string{"Accept: application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}, code: 200, want: []string{`{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion"`, `!"data"`}},
		{send: "GET " + maps, headers: []string{"Accept: application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"}, code: 406, want: []string{`you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)`}},
		{send: "GET " + maps, headers: []string{"Accept: application/yaml"}, code: 200, want: []string{"kind: ConfigMapList\n"}},
		{send: "GET " + maps + "?pretty=1", code: 200, want: []string{"{\n  \"kind\": \"ConfigMapList\""}},
		{send: "GET /api/v1/componentstatuses", code: 200, want: []string{`"items":[]`}},
	})
	_ = rev
}

func TestListAheadOfTheStore(t *testing.T) {
	c := start(t)
	a := c.do("GET "+maps+"?resourceVersion=1000000", "")
	if a.code != 504 || a.header.Get("Retry-After") != "1" || !strings.Contains(a.body, `Too large resource version: 1000000, current: `) || !strings.Contains(a.body, `"reason":"ResourceVersionTooLarge"`) {
		t.Errorf("%d %v %s", a.code, a.header, a.body)
	}
}

func TestPages(t *testing.T) {
	c := start(t)
	rev := c.fill(5)
	first := c.must("GET "+maps+"?limit=2", "")
	token := first.text("metadata.continue")
	plain, err := base64.RawURLEncoding.DecodeString(token)
	if want := `{"v":"meta.k8s.io/v1","rv":` + rev + `,"start":"m001\u0000"}`; err != nil || string(plain) != want {
		t.Errorf("token %s %v, want %s", plain, err, want)
	}
	if n := first.at("metadata.remainingItemCount"); n != 3.0 {
		t.Errorf("remaining: %v", n)
	}
	// Objects created between the pages are not seen.
	c.must("POST "+maps, `{"metadata":{"name":"m0015"}}`)
	c.must("DELETE "+maps+"/m002", "")
	second := c.must("GET "+maps+"?limit=2&continue="+token, "")
	if !strings.Contains(second.body, "m002") || strings.Contains(second.body, "m0015") || second.text("metadata.resourceVersion") != rev {
		t.Errorf("second page: %s", second.body)
	}
	third := c.must("GET "+maps+"?limit=2&continue="+second.text("metadata.continue"), "")
	if third.at("metadata.continue") != nil || third.at("metadata.remainingItemCount") != nil || !strings.Contains(third.body, "m004") {
		t.Errorf("third page: %s", third.body)
	}
	odd := c.must("GET "+maps+"?limit=1&labelSelector=odd%3D1", "")
	if odd.at("metadata.remainingItemCount") != nil || odd.text("metadata.continue") == "" {
		t.Errorf("page by label: %s", odd.body)
	}
	bad := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	c.talk([]exchange{
		{send: "GET " + maps + "?limit=2&resourceVersion=5&continue=" + token, code: 400, want: []string{`specifying resource version is not allowed when using continue`}},
		{send: "GET " + maps + "?continue=!", code: 400, want: []string{`continue key is not valid`}},
		{send: "GET " + maps + "?continue=" + bad(`{"v":"v2","rv":1,"start":"a"}`), code: 400, want: []string{`server does not recognize this encoded version v2`}},
		{send: "GET " + maps + "?continue=" + bad(`{"v":"meta.k8s.io/v1","start":"a"}`), code: 400, want: []string{`incorrect encoded start resourceVersion`}},
		{send: "GET " + maps + "?continue=" + bad(`{"v":"meta.k8s.io/v1","rv":3,"start":"../../secrets"}`), code: 400},
		{send: "GET " + maps + "?continue=" + bad(`{"v":"meta.k8s.io/v1","rv":-1,"start":"m001\u0000"}`), code: 200, want: []string{"m0015", "!m001\""}},
	})
}

func TestListCompressed(t *testing.T) {
	c := start(t)
	value := strings.Repeat("abcdefgh", 8<<10)
	for i := range 4 {
		c.must("POST "+maps, fmt.Sprintf(`{"metadata":{"name":"m%d"},"data":{"k":"%s"}}`, i, value))
	}
	for _, path := range []string{maps, maps + "?pretty=1"} {
		plain := c.must("GET "+path, "")
		packed := c.must("GET "+path, "", "Accept-Encoding: gzip")
		if packed.header.Get("Content-Encoding") != "gzip" || packed.header.Get("Vary") != "Accept-Encoding" {
			t.Fatalf("%s: headers %v", path, packed.header)
		}
		z, err := gzip.NewReader(strings.NewReader(packed.body))
		if err != nil {
			t.Fatal(err)
		}
		if data, err := io.ReadAll(z); err != nil || string(data) != plain.body {
			t.Errorf("%s: unpacked differs: %v", path, err)
		}
	}
	if a := c.must("GET "+maps+"/m0", "", "Accept-Encoding: gzip"); a.header.Get("Content-Encoding") != "" {
		t.Error("a small answer is compressed")
	}
}

// TestLongListInProtobuf lists more than the watch cache keeps of other encodings, which are 32 MiB, again and again.
func TestLongListInProtobuf(t *testing.T) {
	c := start(t)
	clients := map[string]*kubernetes.Clientset{}
	for _, kind := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		cfg := rest.CopyConfig(c.config())
		cfg.ContentType, cfg.AcceptContentTypes = kind, kind
		var err error
		if clients[kind], err = kubernetes.NewForConfig(cfg); err != nil {
			t.Fatal(err)
		}
	}
	const maps, size = 38, 900 << 10
	for i := range maps {
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("m%02d", i)}, Data: map[string]string{"k": strings.Repeat(string(rune('a'+i%26)), size)}}
		if _, err := clients["application/json"].CoreV1().ConfigMaps("default").Create(t.Context(), m, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	list := func(kind string) *corev1.ConfigMapList {
		all, err := clients[kind].CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		return all
	}
	want := list("application/json")
	if len(want.Items) < maps {
		t.Fatalf("%d items", len(want.Items))
	}
	for range 2 {
		if got := list("application/vnd.kubernetes.protobuf"); !apiequality.Semantic.DeepEqual(got.Items, want.Items) || got.ResourceVersion != want.ResourceVersion {
			t.Errorf("%d items in protobuf differ from %d in JSON", len(got.Items), len(want.Items))
		}
	}
}

// TestClients reads and writes with upstream's clients in both encodings.
func TestClients(t *testing.T) {
	c := start(t)
	for _, kind := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		cfg := rest.CopyConfig(c.config())
		cfg.ContentType, cfg.AcceptContentTypes = kind, kind
		k, err := kubernetes.NewForConfig(cfg)
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		ns := url.PathEscape(strings.ReplaceAll(kind[12:], ".", "-"))
		in := k.CoreV1().Pods(ns)
		for i := range 3 {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("p", i)}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
			made, err := in.Create(ctx, pod, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := in.Get(ctx, pod.Name, metav1.GetOptions{})
			if err != nil || got.UID != made.UID || got.ResourceVersion != made.ResourceVersion || got.Spec.RestartPolicy != corev1.RestartPolicyAlways {
				t.Errorf("%s: got %v %v, made %v", kind, got, err, made)
			}
		}
		page, err := in.List(ctx, metav1.ListOptions{Limit: 2})
		if err != nil || len(page.Items) != 2 || page.Continue == "" || page.RemainingItemCount == nil || *page.RemainingItemCount != 1 {
			t.Fatalf("%s: page %v %v", kind, page, err)
		}
		if page.Items[1].Name != "p1" || page.Items[1].ResourceVersion == "" {
			t.Errorf("%s: items %v", kind, page.Items)
		}
		rest, err := in.List(ctx, metav1.ListOptions{Continue: page.Continue})
		if err != nil || len(rest.Items) != 1 || rest.ResourceVersion != page.ResourceVersion {
			t.Errorf("%s: rest %v %v", kind, rest, err)
		}
		sc, err := k.AppsV1().Deployments(ns).GetScale(ctx, "none", metav1.GetOptions{})
		if err == nil {
			t.Errorf("%s: a scale of nothing: %v", kind, sc)
		}
		if err := in.Delete(ctx, "p0", metav1.DeleteOptions{}); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	gvr := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	dyn, err := dynamic.NewForConfig(c.config())
	if err != nil {
		t.Fatal(err)
	}
	list, err := dyn.Resource(gvr).List(context.Background(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 4 || list.Items[0].GetKind() != "Pod" {
		t.Errorf("dynamic: %v %v", list, err)
	}
	md, err := metadata.NewForConfig(c.config())
	if err != nil {
		t.Fatal(err)
	}
	partial, err := md.Resource(gvr).List(context.Background(), metav1.ListOptions{})
	if err != nil || len(partial.Items) != 4 || partial.Items[3].Name != "p2" {
		t.Errorf("metadata: %v %v", partial, err)
	}
}

// TestSlowList checks that a list that a client reads too slowly is cut off.
func TestSlowList(t *testing.T) {
	c := start(t, func(c *server.Config) { c.RequestTimeout = 300 * time.Millisecond })
	rt := server.Transport(c.server, &auth.User{Name: "filler"})
	for i := range 300 {
		code := http.StatusGatewayTimeout
		for code == http.StatusGatewayTimeout { // a stalled machine takes longer than the limit
			req, err := http.NewRequest("POST", "http://x/api/v1/namespaces/default/configmaps",
				strings.NewReader(fmt.Sprintf(`{"metadata":{"name":"c%d"},"data":{"a":%q}}`, i, strings.Repeat("x", 50<<10))))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			resp, err := rt.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			code = resp.StatusCode
		}
		if code != http.StatusCreated && code != http.StatusConflict {
			t.Fatal(code)
		}
	}
	const path = "/api/v1/namespaces/default/configmaps"
	cutOff := func(t *testing.T) {
		eventually(t, "the list's place is free", func() bool {
			return c.metric(`apiserver_current_inflight_requests{request_kind="readOnly"}`) <= 1
		})
	}
	t.Run("HTTP/2", func(t *testing.T) {
		r := c.raw(t, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1000})
		r.open(1, "GET", path, true)
		for {
			f, err := r.ReadFrame()
			r.must(err)
			if _, ok := f.(*http2.RSTStreamFrame); ok {
				return // the machine was slow before it was read
			}
			if f, ok := f.(*http2.DataFrame); ok && len(f.Data()) > 0 {
				break
			}
		}
		cutOff(t)
		r.must(r.WriteWindowUpdate(1, 1<<20))
		r.must(r.WriteWindowUpdate(0, 1<<20))
		for {
			f, err := r.ReadFrame()
			r.must(err)
			if _, ok := f.(*http2.RSTStreamFrame); ok {
				return
			}
			if f.Header().Flags.Has(http2.FlagDataEndStream) && f.Header().Type == http2.FrameData {
				t.Fatal("the list has ended well")
			}
		}
	})
	t.Run("HTTP/1.1", func(t *testing.T) {
		resp, err := c.overHTTP1().Get(c.base + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		cutOff(t)
		if data, err := io.ReadAll(resp.Body); err == nil && resp.StatusCode == 200 { // else the machine was slow before it began
			t.Errorf("all %d bytes of the list have come", len(data))
		}
	})
}
