package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/websocket"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/server"
	"fairlead.dev/storage/local"
)

// watching is an open watch; next reads one event.
type watching struct {
	t      *testing.T
	resp   *http.Response
	lines  *bufio.Reader
	cancel context.CancelFunc
}

func (c *cluster) watch(t *testing.T, rt http.RoundTripper, path string, headers ...string) *watching {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, "GET", c.base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range headers {
		k, v, _ := strings.Cut(h, ": ")
		req.Header.Set(k, v)
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return &watching{t, resp, bufio.NewReaderSize(resp.Body, 1<<20), cancel}
}

// next is the next event in short: "ADDED m001 12", or "end".
func (w *watching) next() string {
	w.t.Helper()
	line, err := w.lines.ReadString('\n')
	if err != nil {
		return "end"
	}
	var e struct {
		Type   string
		Object struct {
			metav1.ObjectMeta `json:"metadata"`
			Code              int
			Message           string
		}
	}
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		w.t.Fatalf("%s: %v", line, err)
	}
	switch o := e.Object; {
	case e.Type == "ERROR":
		return fmt.Sprint("ERROR ", o.Code, " ", o.Message)
	case o.Annotations[metav1.InitialEventsAnnotationKey] == "true":
		return "INITIAL-END " + o.ResourceVersion
	default:
		return strings.TrimSpace(e.Type + " " + o.Name + " " + o.ResourceVersion)
	}
}

func (w *watching) expect(want ...string) {
	w.t.Helper()
	for _, x := range want {
		if got := w.next(); got != x {
			w.t.Fatalf("got %q, want %q", got, x)
		}
	}
}

// allWires runs a test over HTTP/2, HTTP/1.1 and the wire in memory.
func allWires(t *testing.T, run func(t *testing.T, c *cluster, rt http.RoundTripper)) {
	t.Run("http2", func(t *testing.T) {
		c := start(t)
		run(t, c, c.client.Transport)
	})
	t.Run("http1", func(t *testing.T) {
		c := start(t)
		one := &http.Transport{TLSClientConfig: c.client.Transport.(*http.Transport).TLSClientConfig.Clone(), DisableCompression: true}
		one.TLSClientConfig.NextProtos = []string{"http/1.1"}
		run(t, c, one)
	})
	t.Run("memory", func(t *testing.T) {
		c := start(t)
		run(t, c, server.Transport(c.server, &auth.User{Name: "me"}))
	})
}

func TestWatch(t *testing.T) {
	allWires(t, func(t *testing.T, c *cluster, rt http.RoundTripper) {
		c.fill(2) // revisions 2 and 3
		unset := c.watch(t, rt, maps+"?watch=1")
		unset.expect("ADDED m000 2", "ADDED m001 3")
		zero := c.watch(t, rt, maps+"?watch=true&resourceVersion=0")
		zero.expect("ADDED m000 2", "ADDED m001 3")
		after := c.watch(t, rt, maps+"?watch=1&resourceVersion=2")
		after.expect("ADDED m001 3")
		now := c.watch(t, rt, maps+"?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan")
		one := c.watch(t, rt, "/api/v1/watch/namespaces/default/configmaps/m000?resourceVersion=3")
		named := c.watch(t, rt, maps+"?watch=1&resourceVersion=3&fieldSelector=metadata.name%3Dm000")
		odd := c.watch(t, rt, maps+"?watch=1&resourceVersion=3&labelSelector=odd%3D0")
		list := c.watch(t, rt, maps+"?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true")
		list.expect("ADDED m000 2", "ADDED m001 3", "INITIAL-END 3")

		c.must("PATCH "+maps+"/m000 application/merge-patch+json", `{"data":{"k":"w"}}`)                  // 4
		c.must("PATCH "+maps+"/m000 application/merge-patch+json", `{"metadata":{"labels":{"odd":"2"}}}`) // 5
		c.must("DELETE "+maps+"/m000", "")                                                                // 6
		c.must("POST "+maps, mapA)                                                                        // 7
		whole := []string{"MODIFIED m000 4", "MODIFIED m000 5", "DELETED m000 6"}
		for _, w := range []*watching{unset, zero, after, now, list} {
			w.expect(append(whole, "ADDED a 7")...)
		}
		one.expect(whole...)
		named.expect(whole...)
		odd.expect("MODIFIED m000 4", "DELETED m000 5")
	})
}

func TestWatchRefusals(t *testing.T) {
	c := start(t)
	w := "GET " + maps + "?watch=1"
	c.talk([]exchange{
		{send: w + "&sendInitialEvents=true", code: 422, want: []string{`sendInitialEvents requires setting resourceVersionMatch to NotOlderThan`}},
		{send: w + "&resourceVersionMatch=NotOlderThan&resourceVersion=2", code: 422, want: []string{`resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided`}},
		{send: w + "&sendInitialEvents=true&resourceVersionMatch=Exact", code: 422, want: []string{`resourceVersionMatch: Unsupported value: \"Exact\": supported values: \"NotOlderThan\"`}},
		{send: w + "&resourceVersion=x", code: 500, want: []string{`resourceVersion: Invalid value: \"x\"`}},
		{send: w + "&fieldSelector=x%3Dy", code: 400},
		{send: w, headers: []string{"Accept: application/yaml"}, code: 406, want: []string{`application/json;stream=watch,`}},
	})
}

func TestWatchEnds(t *testing.T) {
	c := start(t)
	c.fill(1)
	w := c.watch(t, c.client.Transport, maps+"?watch=1&resourceVersion=2&timeoutSeconds=1&allowWatchBookmarks=true")
	w.expect("BOOKMARK  2", "end")
	w = c.watch(t, c.client.Transport, maps+"?watch=1&resourceVersion=2&timeoutSeconds=1")
	w.expect("end")
}

func TestWatchBookmarks(t *testing.T) {
	c := start(t, func(cfg *server.Config) { cfg.BookmarkEvery = 10 * time.Millisecond })
	c.fill(1)
	w := c.watch(t, c.client.Transport, maps+"?watch=1&resourceVersion=2&allowWatchBookmarks=true")
	w.expect("BOOKMARK  2", "BOOKMARK  2")
	c.must("POST /api/v1/namespaces", `{"metadata":{"name":"n"}}`) // 3, of another kind
	for got := ""; got != "BOOKMARK  3"; {
		if got = w.next(); !strings.HasPrefix(got, "BOOKMARK  ") {
			t.Fatal(got)
		}
	}
}

func TestWatchExpired(t *testing.T) {
	store, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	c := start(t, func(cfg *server.Config) { cfg.Store = store })
	c.fill(3)
	if err := store.Compact(context.Background(), 4); err != nil {
		t.Fatal(err)
	}
	// A server that starts after the compaction has no older history.
	late := start(t, func(cfg *server.Config) { cfg.Store = store })
	a := late.do("GET "+maps+"?watch=1&resourceVersion=2", "")
	if a.code != 200 || !strings.HasPrefix(a.body, `{"type":"ERROR"`) || !strings.Contains(a.body, `"message":"too old resource version: 2 (4)","reason":"Expired","code":410`) {
		t.Errorf("%d %s", a.code, a.body)
	}
	a = late.do("GET "+maps+"?resourceVersion=2&resourceVersionMatch=Exact", "")
	if a.code != 410 || !strings.Contains(a.body, "The resourceVersion for the provided list is too old.") {
		t.Errorf("%d %s", a.code, a.body)
	}
	a = late.do("GET "+maps+"?limit=1&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6Miwic3RhcnQiOiJtMDAwXHUwMDAwIn0", "")
	if a.code != 410 || a.text("metadata.continue") == "" {
		t.Fatalf("%d %s", a.code, a.body)
	}
	a = late.must("GET "+maps+"?limit=1&continue="+a.text("metadata.continue"), "")
	if !strings.Contains(a.body, `"name":"m001"`) {
		t.Errorf("the list does not go on: %s", a.body)
	}
}

func TestWatchRepresentations(t *testing.T) {
	c := start(t)
	c.fill(1)
	w := c.watch(t, c.client.Transport, maps+"?watch=1", asTable)
	c.must("DELETE "+maps+"/m000", "")
	for _, want := range [][]string{
		{`{"type":"ADDED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"2"},"columnDefinitions":[{`, `"rows":[{"cells":["m000",`},
		{`{"type":"DELETED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"3"},"columnDefinitions":null`},
	} {
		line, _ := w.lines.ReadString('\n')
		for _, x := range want {
			if !strings.Contains(line, x) {
				t.Errorf("misses %s in %s", x, line)
			}
		}
	}
	c.must("POST "+maps, mapA)
	w = c.watch(t, c.client.Transport, maps+"?watch=1", "Accept: application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io")
	if line, _ := w.lines.ReadString('\n'); !strings.HasPrefix(line, `{"type":"ADDED","object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"`) {
		t.Error(line)
	}
}

// TestInformers runs client-go's informers in both encodings, with and without the streamed first
// list.
func TestInformers(t *testing.T) {
	c := start(t)
	c.fill(20)
	for _, kind := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
		cfg := rest.CopyConfig(c.config())
		cfg.ContentType, cfg.AcceptContentTypes = kind, kind
		k := kubernetes.NewForConfigOrDie(cfg)
		f := informers.NewSharedInformerFactory(k, 0)
		inf := f.Core().V1().ConfigMaps().Informer()
		stop := make(chan struct{})
		f.Start(stop)
		if !cache.WaitForCacheSync(t.Context().Done(), inf.HasSynced) {
			t.Fatal("not synced")
		}
		if n := len(inf.GetStore().List()); n != 20 {
			t.Errorf("%s: %d objects", kind, n)
		}
		made, err := k.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "new-"}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := k.CoreV1().ConfigMaps("default").Delete(t.Context(), "m000", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		err = wait.PollUntilContextTimeout(t.Context(), 5*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
			_, there, _ := inf.GetStore().GetByKey("default/" + made.Name)
			_, still, _ := inf.GetStore().GetByKey("default/m000")
			return there && !still, nil
		})
		if err != nil {
			t.Errorf("%s: the informer does not follow: %v", kind, err)
		}
		close(stop)
		f.Shutdown()
		c.must("POST "+maps, `{"metadata":{"name":"m000"}}`)
		c.must("DELETE "+maps+"/"+made.Name, "")
	}
}

// TestStuckClient checks that a client that does not read is dropped, and that others go on. It
// has a connection of its own, so that only its own reading can slow it.
func TestStuckClient(t *testing.T) {
	c := start(t, func(cfg *server.Config) { cfg.WriteTimeout = time.Second })
	own := c.client.Transport.(*http.Transport).Clone()
	t.Cleanup(own.CloseIdleConnections)
	stuck := c.watch(t, own, maps+"?watch=1")
	value := strings.Repeat("x", 256<<10)
	c.must("POST "+maps, `{"metadata":{"name":"big"}}`)
	stuck.expect("ADDED big 2")
	for i := range 24 { // half as much again as the client has room for
		c.must("PATCH "+maps+"/big application/merge-patch+json", fmt.Sprintf(`{"data":{"k":"%d%s"}}`, i, value))
	}
	c.awaitMetric(`apiserver_terminated_watchers_total{group="",resource="configmaps"} 1`)
}

func TestWatchThroughWebSocket(t *testing.T) {
	c := start(t)
	c.fill(1)
	cfg, err := websocket.NewConfig(strings.Replace(c.http.URL, "https", "wss", 1)+maps+"?watch=1", c.http.URL)
	if err != nil {
		t.Fatal(err)
	}
	cfg.TlsConfig = c.client.Transport.(*http.Transport).TLSClientConfig.Clone()
	cfg.TlsConfig.NextProtos = []string{"http/1.1"}
	conn, err := websocket.DialConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	c.must("DELETE "+maps+"/m000", "")
	for _, want := range []string{`{"type":"ADDED","object":{"kind":"ConfigMap",`, `{"type":"DELETED","object":{"kind":"ConfigMap",`} {
		var got string
		if err := websocket.Message.Receive(conn, &got); err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%q %v, want %s", got, err, want)
		}
	}
	conn.Close()
	c.awaitWatches(0)
}

// TestSlowReaderGetsError checks that a client that reads too late gets an error event in the middle
// of its stream: the events before it have no gap, and the stream ends after it.
func TestSlowReaderGetsError(t *testing.T) {
	c := start(t, func(cfg *server.Config) {
		cfg.History.HistoryBytes = 64 << 10
		cfg.WriteTimeout = time.Hour // so that unread data does not end it
	})
	slow := c.watch(t, c.client.Transport, maps+"?watch=1")
	c.must("POST "+maps, `{"metadata":{"name":"big"}}`)
	value := strings.Repeat("x", 256<<10)
	const writes = 60
	for i := range writes {
		c.must("PATCH "+maps+"/big application/merge-patch+json", fmt.Sprintf(`{"data":{"k":"%d%s"}}`, i, value))
	}
	slow.expect("ADDED big 2")
	next := 3
	got := slow.next()
	for ; got == fmt.Sprint("MODIFIED big ", next); got = slow.next() {
		next++
	}
	if got != "ERROR 410 The resourceVersion for the provided watch is too old." || next > writes {
		t.Errorf("after %d events: %.200s", next-3, got)
	}
	slow.expect("end")
	c.awaitMetric(`apiserver_terminated_watchers_total{group="",resource="configmaps"} 1`)
}

// awaitMetric waits until the server shows the line among its metrics.
func (c *cluster) awaitMetric(line string) {
	c.t.Helper()
	for deadline := time.Now().Add(time.Minute); !strings.Contains(c.must("GET /metrics", "").body, line+"\n"); {
		if time.Now().After(deadline) {
			c.t.Fatal("no ", line)
		}
	}
}

// awaitWatches waits until n watches of config maps are open.
func (c *cluster) awaitWatches(n int) {
	c.t.Helper()
	c.awaitMetric(fmt.Sprintf(`apiserver_longrunning_requests{component="apiserver",group="",resource="configmaps",scope="namespace",subresource="",verb="WATCH",version="v1"} %d`, n))
}
