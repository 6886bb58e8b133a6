package node_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/node"
)

// TestAnswers distinguishes answers that equal the request from all others.
func TestAnswers(t *testing.T) {
	pod := boundPod("a", "node-1", "")
	pod.UID, pod.ResourceVersion = "u", "7"
	pod.Annotations = map[string]string{"x": `},"spec":{"resourceVersion":"8",`}
	text, err := node.Bare(pod)
	if err != nil {
		t.Fatal(err)
	}
	first := func(old, new string) string { return strings.Replace(string(text), old, new, 1) }
	const front, at, behind = `"metadata":{`, `"uid":"u",`, `},"spec":{"containers"`
	const fields = `,"managedFields":[{"manager":"m","fieldsV1":{"f:spec":{}}}]`
	for name, c := range map[string]struct{ answer, want string }{
		"version in front":    {first(front, front+`"resourceVersion":"9",`), "9"},
		"version in place":    {first(at, at+`"resourceVersion":"9",`) + "\n", "9"},
		"with managers":       {strings.Replace(first(front, front+`"resourceVersion":"9",`), behind, fields+behind, 1), "9"},
		"no version":          {string(text), ""},
		"another label":       {strings.Replace(first(front, front+`"resourceVersion":"9",`), behind, `,"finalizers":["f"]`+behind, 1), ""},
		"a label first":       {strings.Replace(first(front, front+`"resourceVersion":"9",`), at, at+`"labels":{"a":"b"},`, 1), ""},
		"another spec":        {strings.Replace(first(front, front+`"resourceVersion":"9",`), "node-1", "node-2", 1), ""},
		"more status":         {first(front, front+`"resourceVersion":"9",`) + `}`, ""},
		"something else":      {`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}`, ""},
		"nothing":             {"", ""},
		"another after those": {strings.Replace(first(front, front+`"resourceVersion":"9",`), behind, fields+`,"selfLink":"x"`+behind, 1), ""},
	} {
		got, ok := node.AsSent(text, []byte(c.answer))
		if ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%s: %q, %v", name, got, ok)
		}
	}
}

// TestAnswerOfServer: the answers of our own server are recognized, and it
// keeps the managedFields, which a node does not send.
func TestAnswerOfServer(t *testing.T) {
	env := served(t)
	pods := client.For[*corev1.Pod](env.Client).Namespace("default")
	pod, err := pods.Create(t.Context(), boundPod("a", "elsewhere", ""))
	if err != nil {
		t.Fatal(err)
	}
	pod.Status.Phase, pod.Status.PodIP, pod.Status.PodIPs = corev1.PodRunning, "10.1.2.3", []corev1.PodIP{{IP: "10.1.2.3"}}
	text, err := node.Bare(pod)
	if err != nil {
		t.Fatal(err)
	}
	res, err := env.Client.REST().Do(t.Context(), client.Request{
		Method: http.MethodPut, Path: "/api/v1/namespaces/default/pods/a/status", Body: node.Revised(text, pod.ResourceVersion),
	})
	if err != nil {
		t.Fatal(err)
	}
	version, ok := node.AsSent(text, res.Body)
	now, err := pods.Get(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if !ok || version != now.ResourceVersion || version == pod.ResourceVersion {
		t.Errorf("%q, %v, at %s: %s", version, ok, now.ResourceVersion, res.Body)
	}
	if n := len(now.ManagedFields); n != 2 {
		t.Errorf("%d managers", n)
	}
}

// wire is a transport made from a function.
type wire func(req *http.Request) (*http.Response, error)

func (w wire) RoundTrip(req *http.Request) (*http.Response, error) { return w(req) }

func isStatus(req *http.Request) bool {
	return req.Method == http.MethodPut && strings.HasSuffix(req.URL.Path, "/status") && strings.Contains(req.URL.Path, "/pods/")
}

// wired is an environment whose requests go through the transport that around returns.
func wired(t *testing.T, around func(next http.RoundTripper) wire) (client.Resource[*corev1.Pod], func(node.Options) *node.Nodes) {
	env, config := servedAt(t)
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return around(next) })
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mine := env
	mine.Client = c
	return client.For[*corev1.Pod](env.Client).Namespace("default"), func(o node.Options) *node.Nodes { return node.New(mine, o) }
}

// TestChangedOnTheWay changes a pod during the write of the node's status.
func TestChangedOnTheWay(t *testing.T) {
	pods, nodes := wired(t, func(next http.RoundTripper) wire {
		return func(req *http.Request) (*http.Response, error) {
			if isStatus(req) {
				body, err := io.ReadAll(req.Body)
				if err != nil {
					return nil, err
				}
				body = bytes.Replace(body, []byte(`"metadata":{`), []byte(`"metadata":{"annotations":{"by":"webhook"},`), 1)
				req = req.Clone(req.Context())
				req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			}
			return next.RoundTrip(req)
		}
	})
	run := nodes(node.Options{Count: 1})
	startNodes(t, run)
	if _, err := pods.Create(t.Context(), boundPod("a", "node-1", "")); err != nil {
		t.Fatal(err)
	}
	await(t, pods, "a", "running", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	for {
		p, changed := run.Pod("default", "a")
		if p != nil && p.Annotations["by"] == "webhook" && p.Status.Phase == corev1.PodRunning {
			return
		}
		select {
		case <-changed:
		case <-t.Context().Done():
			t.Fatalf("the node does not see it: %+v", p)
		}
	}
}

// TestReleasedOnce counts how often a pod is deleted for good that stays for a finalizer.
func TestReleasedOnce(t *testing.T) {
	var deletes atomic.Int32
	pods, nodes := wired(t, func(next http.RoundTripper) wire {
		return func(req *http.Request) (*http.Response, error) {
			if req.Method == http.MethodDelete && strings.HasSuffix(req.URL.Path, "/pods/a") {
				deletes.Add(1)
			}
			return next.RoundTrip(req)
		}
	})
	startNodes(t, nodes(node.Options{Count: 1, PodWorkers: 1}))
	p := boundPod("a", "node-1", "")
	p.Finalizers = []string{"example.com/stay"}
	if _, err := pods.Create(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	running := func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning }
	await(t, pods, "a", "running", running)
	if err := pods.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	await(t, pods, "a", "released", func(p *corev1.Pod) bool {
		return p.DeletionGracePeriodSeconds != nil && *p.DeletionGracePeriodSeconds == 0
	})
	label := client.MergePatch(map[string]any{"metadata": map[string]any{"labels": map[string]string{"new": "s"}}})
	if _, err := pods.Patch(t.Context(), "a", label); err != nil {
		t.Fatal(err)
	}
	// The one worker has looked at a again when it comes to this.
	if _, err := pods.Create(t.Context(), boundPod("b", "node-1", "")); err != nil {
		t.Fatal(err)
	}
	await(t, pods, "b", "running", running)
	free := client.MergePatch(map[string]any{"metadata": map[string]any{"finalizers": nil}})
	if _, err := pods.Patch(t.Context(), "a", free); err != nil {
		t.Fatal(err)
	}
	gone(t, pods, "a")
	if n := deletes.Load(); n != 1 {
		t.Errorf("deleted %d times", n)
	}
}
