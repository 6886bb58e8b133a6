package server_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/websocket"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/watch"
	acv1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	clientfeatures "k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"fairlead.dev/server"
)

func withCBOR(cfg *server.Config) { cfg.CBOR = true }

// spoken records the content types on a wire.
type spoken struct {
	http.RoundTripper
	mu    sync.Mutex
	types map[string]int
}

func (s *spoken) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := s.RoundTripper.RoundTrip(req)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.types[req.Header.Get("Content-Type")+" > "+resp.Header.Get("Content-Type")]++
	}
	return resp, err
}

// TestCBORClients makes client-go use only CBOR: typed and dynamic clients, server-side apply,
// and an informer.
func TestCBORClients(t *testing.T) {
	featurestesting.SetFeatureDuringTest(t, clientfeatures.ClientsAllowCBOR, true)
	featurestesting.SetFeatureDuringTest(t, clientfeatures.ClientsPreferCBOR, true)
	c := start(t, withCBOR)
	cfg := c.config()
	heard := &spoken{types: map[string]int{}}
	cfg.ContentType, cfg.AcceptContentTypes = "application/cbor", "application/cbor"
	cfg.WrapTransport = func(rt http.RoundTripper) http.RoundTripper { heard.RoundTripper = rt; return heard }
	ctx := t.Context()
	typed := c.typedWith(cfg).CoreV1().ConfigMaps("default")
	loose, err := dynamic.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	maps := loose.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("default")
	events, err := maps.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	f := informers.NewSharedInformerFactory(c.typedWith(cfg), 0)
	informer := f.Core().V1().ConfigMaps().Informer()
	told := make(chan string, 10)
	informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) { told <- "added " + o.(*corev1.ConfigMap).Data["k"] },
		UpdateFunc: func(_, o any) {
			told <- "updated " + o.(*corev1.ConfigMap).Data["k"]
		},
		DeleteFunc: func(o any) { told <- "deleted " + o.(*corev1.ConfigMap).Data["k"] },
	})
	f.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		t.Fatal("not synced")
	}

	made, err := typed.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Data: map[string]string{"k": "1"}, BinaryData: map[string][]byte{"b": {0, 255}}}, metav1.CreateOptions{})
	if err != nil || made.Data["k"] != "1" || !bytes.Equal(made.BinaryData["b"], []byte{0, 255}) || made.Kind != "" && made.Kind != "ConfigMap" {
		t.Fatal(err, made)
	}
	made.Data["k"] = "2"
	if _, err := typed.Update(ctx, made, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	applied, err := typed.Apply(ctx, acv1.ConfigMap("a", "default").WithData(map[string]string{"k": "3"}), metav1.ApplyOptions{FieldManager: "m", Force: true})
	if err != nil || applied.Data["k"] != "3" {
		t.Fatal(err, applied)
	}
	u, err := maps.Get(ctx, "a", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, _, _ := unstructured.NestedString(u.Object, "binaryData", "b"); got != "AP8=" || len(u.GetManagedFields()) != 2 {
		t.Errorf("%q in %v", got, u.Object)
	}
	if _, err := maps.Apply(ctx, "a", &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}, "data": map[string]any{"k": "4"},
	}}, metav1.ApplyOptions{FieldManager: "m"}); err != nil {
		t.Fatal(err)
	}
	list, err := maps.List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil || len(list.Items) != 1 || list.Items[0].GetKind() != "ConfigMap" {
		t.Fatal(err, list)
	}
	if l, err := typed.List(ctx, metav1.ListOptions{}); err != nil || len(l.Items) != 1 || l.Items[0].Data["k"] != "4" {
		t.Fatal(err, l)
	}
	if err := typed.Delete(ctx, "a", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &made.UID}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []watch.EventType{watch.Added, watch.Modified, watch.Modified, watch.Modified, watch.Deleted} {
		if e := <-events.ResultChan(); e.Type != want || e.Object.(*unstructured.Unstructured).GetName() != "a" {
			t.Errorf("%s %v, want %s", e.Type, e.Object, want)
		}
	}
	for _, want := range []string{"added 1", "updated 2", "updated 3", "updated 4", "deleted 4"} {
		if got := <-told; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	heard.mu.Lock()
	defer heard.mu.Unlock()
	for types := range heard.types {
		if strings.Contains(types, "json") || strings.Contains(types, "yaml") {
			t.Errorf("not all is CBOR: %s", types)
		}
	}
	if heard.types["application/apply-patch+cbor > application/cbor"] != 2 || heard.types[" > application/cbor-seq"] != 2 {
		t.Error(heard.types)
	}
}

// TestCBORIsJSON compares bodies and events in CBOR with those in JSON.
func TestCBORIsJSON(t *testing.T) {
	c := start(t, withCBOR)
	c.fill(3)
	c.must("POST "+pods, `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80}],"resources":{"limits":{"cpu":"1500m"}},"livenessProbe":{"httpGet":{"port":"http"}}}]}}`)
	c.must("POST /apis/apps/v1/namespaces/default/deployments", `{"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"strategy":{"rollingUpdate":{"maxSurge":1}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
	const partial = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	for _, q := range []struct{ path, form string }{
		{maps, ""}, {maps + "/m000", ""}, {maps + "?limit=2", ""}, {maps + "?fieldSelector=metadata.name%3Dnone", ""},
		{pods + "/p", ""}, {"/apis/apps/v1/namespaces/default/deployments/d", ""}, {"/apis/apps/v1/namespaces/default/deployments/d/scale", ""},
		{maps + "/m000", partial}, {maps, strings.Replace(partial, "Metadata", "MetadataList", 1)},
		{maps + "?fieldSelector=metadata.name%3Dnone", strings.Replace(partial, "Metadata", "MetadataList", 1)},
		{maps + "/none", ""}, {maps + "?fieldSelector=x%3Dy", ""}, {"/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers", ""},
	} {
		text := c.do("GET "+q.path, "", "Accept: application/json"+q.form)
		packed := c.do("GET "+q.path, "", "Accept: application/cbor"+q.form)
		var want, got any
		if err := json.Unmarshal([]byte(text.body), &want); err != nil {
			t.Fatal(err)
		}
		if err := direct.Unmarshal([]byte(packed.body), &got); err != nil || !strings.HasPrefix(packed.body, "\xd9\xd9\xf7") {
			t.Errorf("%s: %v %q", q.path, err, packed.body)
		}
		if packed.code != text.code || packed.header.Get("Content-Type") != "application/cbor" || !reflect.DeepEqual(round(t, got), want) {
			t.Errorf("%s%s: %d %s\n%v\nwant %d\n%v", q.path, q.form, packed.code, packed.header, got, text.code, want)
		}
	}
	for _, q := range []struct{ query, form string }{
		{"?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true", ""}, {"?watch=1", partial}, {"?watch=1&resourceVersion=1&labelSelector=odd%3D1", ""},
	} {
		text := c.watch(t, c.client.Transport, maps+q.query, "Accept: application/json"+q.form)
		packed := c.watch(t, c.client.Transport, maps+q.query, "Accept: application/cbor"+q.form)
		frames := cbor.NewFramer().NewFrameReader(io.NopCloser(packed.lines))
		c.must("PATCH "+maps+"/m001 application/merge-patch+json", `{"data":{"z":"z"}}`)
		c.must("PATCH "+maps+"/m001 application/merge-patch+json", `{"metadata":{"labels":{"odd":"0"}}}`)
		c.must("PATCH "+maps+"/m001 application/merge-patch+json", `{"metadata":{"labels":{"odd":"1"}},"data":{"z":null}}`)
		for range 3 {
			line, err := text.lines.ReadBytes('\n')
			if err != nil {
				t.Fatal(err)
			}
			buf := make([]byte, 1<<16)
			n, err := frames.Read(buf)
			if err != nil {
				t.Fatal(err)
			}
			var want, got any
			if err := json.Unmarshal(line, &want); err != nil {
				t.Fatal(err)
			}
			if err := direct.Unmarshal(buf[:n], &got); err != nil || !reflect.DeepEqual(round(t, got), want) {
				t.Errorf("%s: %v\n%v\nwant\n%v", q.query, err, got, want)
			}
		}
		if kind := packed.resp.Header.Get("Content-Type"); kind != "application/cbor-seq" {
			t.Error(kind)
		}
	}
}

// round returns the value that encoding/json decodes from the value's own text.
func round(t *testing.T, v any) (out any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestCBORRefusals has the answers of a kube-apiserver with the gate open to bodies that are not
// CBOR and to resources not available in CBOR, and those of one with the gate shut.
func TestCBORRefusals(t *testing.T) {
	const all = "application/json, application/yaml, application/vnd.kubernetes.protobuf, application/cbor"
	const named = "\x68metadata\xa1\x64name\x61x"
	open := start(t, withCBOR)
	open.talk([]exchange{
		{send: "GET " + maps, headers: []string{"Accept: text/html"}, code: 406, want: []string{`representations: ` + all + `, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch, application/cbor-seq"`}},
		{send: "GET " + maps + "/x", headers: []string{"Accept: application/cbor-seq"}, code: 406, want: []string{`representations: ` + all + `"`}},
		{send: "GET " + maps + "?watch=1", headers: []string{"Accept: application/cbor-seq"}, code: 406, want: []string{`"only the following media types are accepted: ` + all + `"`}},
		{send: "GET " + maps, headers: []string{"Accept: application/cbor;as=Table;g=meta.k8s.io;v=v1"}, code: 406, want: []string{`"only the following media types are accepted: ` + all + `"`}},
		{send: "POST " + maps + " application/x", body: `{}`, code: 415, want: []string{`accepted media types include: ` + all + `"`}},
		{send: "POST " + maps + " application/cbor", body: `{}`, code: 400, want: []string{`the object provided is unrecognized (must be of type ConfigMap): unable to determine group/version/kind: unexpected EOF ({})`}},
		{send: "POST " + maps + " application/cbor", body: "\xa0", code: 422, want: []string{`name or generateName is required`}},
		{send: "POST " + maps + "?fieldValidation=Strict application/cbor", body: "\xa2\x63foo\x01" + named, code: 400, want: []string{`strict decoding error: cbor: found unknown field at map element index 0`}},
		{send: "POST " + maps + "?dryRun=All application/cbor", body: "\xa2\x63foo\x01" + named, code: 201},
		{send: "POST " + maps + "?dryRun=All&fieldValidation=Ignore application/cbor", body: "\xa2\x63foo\x01" + named, code: 201},
		{send: "POST " + maps + " application/cbor", body: "\xa3\x64kind\x63Pod\x6aapiVersion\x62v1" + named, code: 400, want: []string{`Pod in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Pod) to (core.ConfigMap): unknown conversion`}},
		{send: "POST " + maps + " application/cbor", body: "\xa2\x64data\x01" + named, code: 400, want: []string{`cbor: cannot unmarshal positive integer into Go struct field v1.ConfigMap.data of type map[string]string`}},
		{send: "POST " + maps + " application/cbor", body: "\xa2\x68metadata\xa0" + named, code: 400, want: []string{`found duplicate map key \"metadata\" at map element index 1 (a2686d65746164617461a0686d65746164617461a1646e616d656178)`}},
		{send: "PATCH " + maps + "/x application/merge-patch+cbor", body: "\xa0", code: 415, want: []string{`415: Unsupported Media Type`}},
		{send: "PATCH " + maps + "/x application/apply-patch+cbor", body: "\xa0", code: 422, want: []string{`is required for apply patch`}},
		{send: "PATCH " + maps + "/x?fieldManager=m application/apply-patch+cbor", body: "{}", code: 400, want: []string{`error decoding patch: unexpected EOF`}},
		{send: "PATCH " + maps + "/x?fieldManager=m application/apply-patch+cbor", body: "\xa1" + named, code: 400, want: []string{`invalid object type: /, Kind=`}},
		{send: "DELETE " + maps + "/x application/cbor", body: "\xa1\x64kind\x61x", code: 400, want: []string{`no kind \"x\" is registered for version \"meta.k8s.io/v1\"`}},
		{send: "DELETE " + maps + "/x application/cbor", body: "x", code: 400, want: []string{`unable to determine group/version/kind: unexpected EOF`}},
	})
	if a := open.must("POST "+maps+"?dryRun=All application/cbor", "\xa2\x63foo\x01"+named); a.header.Get("Warning") != `299 - "cbor: found unknown field at map element index 0"` {
		t.Error(a.header)
	}
	shut := start(t)
	shut.talk([]exchange{
		{send: "GET " + maps, headers: []string{"Accept: application/cbor"}, code: 406, want: []string{`application/vnd.kubernetes.protobuf;stream=watch"`}},
		{send: "POST " + maps + " application/cbor", body: "\xa0", code: 415, want: []string{`application/vnd.kubernetes.protobuf"`}},
		{send: "PATCH " + maps + "/x application/apply-patch+cbor", body: "\xa0", code: 415},
	})
}

// TestCBORThroughWebSocket checks that each event is a message of bytes.
func TestCBORThroughWebSocket(t *testing.T) {
	c := start(t, withCBOR)
	c.fill(2)
	cfg, err := websocket.NewConfig(strings.Replace(c.http.URL, "https", "wss", 1)+maps+"?watch=1", c.http.URL)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Header.Set("Accept", "application/cbor")
	cfg.TlsConfig = c.client.Transport.(*http.Transport).TLSClientConfig.Clone()
	cfg.TlsConfig.NextProtos = []string{"http/1.1"}
	conn, err := websocket.DialConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, want := range []string{"m000", "m001"} {
		var event struct {
			Type   string `json:"type"`
			Object struct {
				metav1.ObjectMeta `json:"metadata"`
			} `json:"object"`
		}
		var message []byte
		if err := websocket.Message.Receive(conn, &message); err != nil {
			t.Fatal(err)
		}
		var v any
		if err := direct.Unmarshal(message, &v); err != nil {
			t.Fatalf("%v in %q", err, message)
		}
		text, _ := json.Marshal(v)
		if err := json.Unmarshal(text, &event); err != nil || event.Type != "ADDED" || event.Object.Name != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}
