package kubelet_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/websocket"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	//lint:ignore SA1019 client-go makes dialers of it
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	utilexec "k8s.io/client-go/util/exec"

	"fairlead.dev/client"
	"fairlead.dev/testenv"
)

const definitions = `
apiVersion: kwok.x-k8s.io/v1alpha1
kind: ClusterLogs
metadata: {name: defined}
spec:
  selector: {matchNames: [defined]}
  logs:
  - containers: [c]
    content: |
      2024-01-02T03:04:05.000000006Z stdout F first
      2024-01-02T03:04:06Z stderr F second
      2024-01-02T03:04:07Z stdout F third
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Exec
metadata: {name: defined, namespace: default}
spec:
  execs:
  - command: [uname]
    stdout: "Simulated\n"
    exitCode: 9
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: ClusterPortForward
metadata: {name: defined}
spec:
  selector: {matchNames: [defined]}
  forwards:
  - ports: [7]
    response: "seven\n"
`

type world struct {
	env  *testenv.Env
	pods client.Resource[*corev1.Pod]
	base string
}

// start is a control plane with a node and the running pods "plain" and "defined".
func start(t *testing.T) world {
	t.Helper()
	env := testenv.New(t, testenv.Options{Nodes: 1, NoScheduler: true, Controllers: []string{"serviceaccount"}, Stages: testenv.Objects{Values: []any{[]byte(definitions)}}})
	w := world{env, client.For[*corev1.Pod](env.Client(t)).Namespace("default"), env.Config().Host + "/api/v1/namespaces/default/pods/"}
	accounts := client.For[*corev1.ServiceAccount](env.Client(t)).Namespace("default")
	await(t, accounts, "default", func(*corev1.ServiceAccount) bool { return true })
	for _, name := range []string{"plain", "defined"} {
		w.run(t, name, nil)
	}
	return w
}

func (w world) run(t *testing.T, name string, change func(*corev1.Pod)) *corev1.Pod {
	t.Helper()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
		NodeName: "node-1", Containers: []corev1.Container{{Name: "c", Image: "nginx:1.27"}},
	}}
	if change != nil {
		change(p)
	}
	if _, err := w.pods.Create(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	return await(t, w.pods, name, func(p *corev1.Pod) bool { return p.Status.StartTime != nil })
}

func await[T client.Object](t *testing.T, r client.Resource[T], name string, ok func(T) bool) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	w, err := r.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for {
		ev, err := w.Next(ctx)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if ok(ev.Object) {
			return ev.Object
		}
	}
}

// get is the body of an answer and its code.
func (w world) get(t *testing.T, path string) (int, string) {
	t.Helper()
	c, err := rest.HTTPClientFor(w.env.Config())
	if err != nil {
		t.Fatal(err)
	}
	at := w.base + path
	if path[0] == '/' {
		at = w.env.Config().Host + path
	}
	res, err := c.Get(at)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

func TestLogs(t *testing.T) {
	w := start(t)
	w.run(t, "waiting", func(p *corev1.Pod) { p.Annotations = map[string]string{"fairlead.dev/start-after": "1h"} })
	w.run(t, "two", func(p *corev1.Pod) {
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "d", Image: "redis"})
	})
	w.run(t, "crashing", func(p *corev1.Pod) {
		p.Annotations = map[string]string{"fairlead.dev/run-for": "1ms", "fairlead.dev/exit-code": "3"}
	})
	await(t, w.pods, "crashing", func(p *corev1.Pod) bool {
		return len(p.Status.ContainerStatuses) > 0 && p.Status.ContainerStatuses[0].RestartCount > 0 && p.Status.ContainerStatuses[0].State.Waiting != nil
	})
	for _, c := range []struct {
		path string
		code int
		want string
	}{
		{"plain/log", 200, "nginx:1.27 started, restarts: 0\n"},
		{"two/log?container=d", 200, "redis started, restarts: 0\n"},
		{"crashing/log?previous=true", 200, "nginx:1.27 started, restarts: 1\nended with exit code 3\n"},
		{"defined/log", 200, "first\nsecond\nthird\n"},
		{"defined/log?tailLines=2", 200, "second\nthird\n"},
		{"defined/log?tailLines=0", 200, ""},
		{"defined/log?limitBytes=8", 200, "first\nse"},
		{"defined/log?stream=Stderr", 200, "second\n"},
		{"defined/log?sinceTime=2024-01-02T03:04:06Z", 200, "second\nthird\n"},
		{"defined/log?sinceSeconds=5", 200, ""},
		{"defined/log?timestamps=true&tailLines=3", 200, "2024-01-02T03:04:05.000000006Z first\n2024-01-02T03:04:06.000000000Z second\n2024-01-02T03:04:07.000000000Z third\n"},
		{"two/log", 400, "a container name must be specified for pod two, choose one of: [c d]"},
		{"plain/log?container=x", 400, "container x is not valid for pod plain"},
		{"waiting/log", 400, `container \"c\" in pod \"waiting\" is waiting to start: ContainerCreating`},
		{"plain/log?previous=true", 400, `previous terminated container \"c\" in pod \"plain\" not found`},
		{"plain/log?tailLines=-1", 422, "tailLines: Invalid value: -1: must be greater than or equal to 0"},
		{"plain/log?sinceSeconds=5&sinceTime=2024-01-02T03:04:06Z", 422, "at most one of `sinceTime` or `sinceSeconds` may be specified"},
		{"absent/log", 404, `pods \"absent\" not found`},
		{"plain/exec?command=true&stdout=true", 400, "Upgrade request required"},
		{"plain:80/proxy/a/b?c=d", 200, "GET /a/b?c=d\npod default/plain, port 80\n"},
		{"waiting/proxy/", 400, "address not allowed"},
		{"/api/v1/nodes/node-1/proxy/healthz", 200, "ok"},
	} {
		code, body := w.get(t, c.path)
		if code != c.code || code == 200 && body != c.want || !strings.Contains(body, c.want) {
			t.Errorf("%s: %d %q, want %d %q", c.path, code, body, c.code, c.want)
		}
	}
}

// TestLogsAsMessages reads a log through a WebSocket, as browsers do.
func TestLogsAsMessages(t *testing.T) {
	w := start(t)
	config, err := websocket.NewConfig("wss"+strings.TrimPrefix(w.base, "https")+"defined/log", w.env.Config().Host)
	if err != nil {
		t.Fatal(err)
	}
	if config.TlsConfig, err = rest.TLSConfigFor(w.env.Config()); err != nil {
		t.Fatal(err)
	}
	config.Header.Set("Authorization", "Bearer "+w.env.Config().BearerToken)
	for protocol, want := range map[string]string{"binary.k8s.io": "first\nsecond\nthird\n", "base64.binary.k8s.io": "Zmlyc3QKc2Vjb25kCnRoaXJkCg=="} {
		config.Protocol = []string{protocol}
		conn, err := websocket.DialConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		var got, part []byte
		for err = websocket.Message.Receive(conn, &part); err == nil; err = websocket.Message.Receive(conn, &part) {
			got = append(got, part...) // the first is empty
		}
		conn.Close()
		if err != io.EOF || string(got) != want {
			t.Errorf("%s: %q, then %v", protocol, got, err)
		}
	}
}

// TestFollow follows a log until the container ends.
func TestFollow(t *testing.T) {
	w := start(t)
	p := w.run(t, "job", func(p *corev1.Pod) {
		p.Spec.RestartPolicy = corev1.RestartPolicyNever
		p.Annotations = map[string]string{"fairlead.dev/run-for": "forever"}
	})
	p = await(t, w.pods, p.Name, func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	c, err := rest.HTTPClientFor(w.env.Config())
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.Get(w.base + "job/log?follow=true")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	first := make([]byte, len("nginx:1.27 started, restarts: 0\n"))
	if _, err := io.ReadFull(res.Body, first); err != nil {
		t.Fatal(err)
	}
	if _, err := w.pods.Patch(t.Context(), p.Name, client.MergePatch(map[string]any{
		"metadata": map[string]any{"annotations": map[string]string{"fairlead.dev/run-for": "1ms", "fairlead.dev/exit-code": "4"}},
	})); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(res.Body)
	if err != nil || string(rest) != "ended with exit code 4\n" {
		t.Errorf("followed by %q, %v", rest, err)
	}
}

func TestExec(t *testing.T) {
	w := start(t)
	run := func(kind, pod, stdin string, command ...string) (string, string, error) {
		u, _ := url.Parse(w.base + pod + "/exec")
		q := url.Values{"command": command, "stdout": {"true"}, "stderr": {"true"}, "container": {"c"}}
		var out, errs bytes.Buffer
		o := remotecommand.StreamOptions{Stdout: &out, Stderr: &errs}
		if stdin != "" {
			q.Set("stdin", "true")
			o.Stdin = strings.NewReader(stdin)
		}
		u.RawQuery = q.Encode()
		var e remotecommand.Executor
		var err error
		if kind == "websocket" {
			e, err = remotecommand.NewWebSocketExecutor(w.env.Config(), "GET", u.String())
		} else {
			e, err = remotecommand.NewSPDYExecutor(w.env.Config(), "POST", u)
		}
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err = e.StreamWithContext(ctx, o)
		return out.String(), errs.String(), err
	}
	for _, kind := range []string{"websocket", "spdy"} {
		for _, c := range []struct {
			pod, stdin  string
			command     []string
			out, stderr string
			code        int
		}{
			{"plain", "", []string{"echo", "a", "b"}, "a b\n", "", 0},
			{"plain", "in\n", []string{"cat"}, "in\n", "", 0},
			{"plain", "echo x; exit 6\n", []string{"sh"}, "x\n", "", 6},
			{"plain", "", []string{"sh", "-c", "false && echo no; hostname && exit 3"}, "plain\n", "", 3},
			{"plain", "", []string{"sh", "-c", "echo a | cat; echo hi > /tmp/f"}, "a\n", "", 0},
			{"plain", "", []string{"cat", "/tmp/f"}, "hi\n", "", 0}, // in the same container
			{"plain", "", []string{"sh", "-c", "echo $(hostname); if true; then echo hi; fi"}, "plain\nhi\n", "", 0},
			{"plain", "", []string{"sh", "-c", "sleep 5 &"}, "", "sh: a background job: not simulated\n", 126},
			{"plain", "if true\nthen echo x\nfi\n", []string{"sh"}, "x\n", "", 0},
			{"plain", "", []string{"nginx", "-t"}, "", "exec: \"nginx\": executable file not found in $PATH\n", 127},
			{"defined", "", []string{"uname", "-a"}, "Simulated\n", "", 9},
		} {
			out, stderr, err := run(kind, c.pod, c.stdin, c.command...)
			code := 0
			if exit := (utilexec.CodeExitError{}); errors.As(err, &exit) {
				code = exit.Code
			} else if err != nil {
				t.Errorf("%s %v: %v", kind, c.command, err)
			}
			if out != c.out || stderr != c.stderr || code != c.code {
				t.Errorf("%s %v: %q %q %d", kind, c.command, out, stderr, code)
			}
		}
	}
}

// TestExecIsCreate: exec requires the verb create, also for a WebSocket.
func TestExecIsCreate(t *testing.T) {
	w := start(t)
	config := w.env.Config()
	config.Impersonate.UserName = "reader"
	c, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	for _, sub := range []string{"exec?command=true&stdout=true", "attach?stdout=true", "portforward", "log"} {
		res, err := c.Get(w.base + "plain/" + sub)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %d %s", sub, res.StatusCode, body)
		}
	}
}

func TestPortForward(t *testing.T) {
	w := start(t)
	config := w.env.Config()
	for _, kind := range []string{"websocket", "spdy"} {
		u, _ := url.Parse(w.base + "defined/portforward")
		var dialer httpstream.Dialer
		if kind == "websocket" {
			d, err := portforward.NewSPDYOverWebsocketDialer(u, config)
			if err != nil {
				t.Fatal(err)
			}
			dialer = d
		} else {
			transport, upgrader, err := spdy.RoundTripperFor(config)
			if err != nil {
				t.Fatal(err)
			}
			dialer = spdy.NewDialer(upgrader, &http.Client{Transport: transport}, "POST", u)
		}
		stop, ready := make(chan struct{}), make(chan struct{})
		f, err := portforward.NewOnAddresses(dialer, []string{"127.0.0.1"}, []string{"0:80", "0:7"}, stop, ready, io.Discard, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- f.ForwardPorts() }()
		select {
		case <-ready:
		case err := <-done:
			t.Fatal(kind, err)
		}
		ports, err := f.GetPorts()
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/x", ports[0].Local))
		if err != nil {
			t.Fatal(kind, err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if string(body) != "GET /x\npod default/defined, port 80\n" {
			t.Errorf("%s: %s", kind, body)
		}
		if got := say(t, fmt.Sprintf("127.0.0.1:%d", ports[1].Local)); got != "seven\n" {
			t.Errorf("%s: %q", kind, got)
		}
		close(stop)
		<-done
	}
}

// say returns the bytes that a server sends first.
func say(t *testing.T, address string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	text, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
