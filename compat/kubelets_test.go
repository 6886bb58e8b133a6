package compat

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	utilexec "k8s.io/client-go/util/exec"
)

func parsed(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// firstLine is the first line that an attached client reads.
func firstLine(ctx context.Context, dial func(url string) (remotecommand.Executor, error), url string) (string, error) {
	x, err := dial(url)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	r, w := io.Pipe()
	go func() { w.CloseWithError(x.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: w})) }()
	return bufio.NewReader(r).ReadString('\n')
}

// Our simulated kubelets answer upstream's API server: pods wait for their config maps, and
// their logs, commands, attached terminals and forwarded ports pass through it.
func TestOurKubeletsUnderUpstreamsServer(t *testing.T) {
	up := startUpstream(t)
	start(t, bin.fairlead, "controllers", "--kubeconfig", up.kubeconfig, "--controllers=serviceaccount,nodelifecycle")
	start(t, bin.fairlead, "nodes", "--kubeconfig", up.kubeconfig, "--nodes=2", "--enable-crds=ClusterExec,ClusterAttach")
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	config, err := clientcmd.BuildConfigFromFlags("", up.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	rest := up.clients.CoreV1().RESTClient()
	until(t, cache.NewListWatchFromClient(rest, "serviceaccounts", "default", one("default")),
		"the default service account", func(*corev1.ServiceAccount) bool { return true })
	until(t, cache.NewListWatchFromClient(rest, "nodes", "", one("node-2")), "the second node", func(*corev1.Node) bool { return true })

	pods := up.clients.CoreV1().Pods("default")
	if _, err := pods.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: corev1.PodSpec{NodeName: "node-2", Containers: []corev1.Container{{Name: "c", Image: "nginx:1.27", Env: []corev1.EnvVar{{
			Name: "COLOR", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: "paint"}, Key: "color"}},
		}}}}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	says := `{"apiVersion":"kwok.x-k8s.io/v1alpha1","kind":"ClusterAttach","metadata":{"name":"web"},"spec":{"attaches":[{"content":"what it says\n"}]}}`
	if err := rest.Post().AbsPath("/apis/kwok.x-k8s.io/v1alpha1/clusterattaches").Body([]byte(says)).SetHeader("Content-Type", "application/json").Do(ctx).Error(); err != nil {
		t.Fatal(err)
	}
	web := cache.NewListWatchFromClient(rest, "pods", "default", one("web"))
	until(t, web, "the pod waiting for its config map", func(p *corev1.Pod) bool {
		if len(p.Status.ContainerStatuses) == 0 {
			return false
		}
		w := p.Status.ContainerStatuses[0].State.Waiting
		return w != nil && w.Reason == "CreateContainerConfigError" && w.Message == `configmap "paint" not found`
	})
	paint := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "paint"}, Data: map[string]string{"color": "red"}}
	if _, err := up.clients.CoreV1().ConfigMaps("default").Create(ctx, paint, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, web, "the pod running", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })

	text, err := pods.GetLogs("web", &corev1.PodLogOptions{}).DoRaw(ctx)
	if err != nil || !strings.HasPrefix(string(text), "nginx:1.27 started") {
		t.Errorf("logs: %q, %v", text, err)
	}
	request := func(sub string, options any) string {
		r := rest.Post().Namespace("default").Resource("pods").Name("web").SubResource(sub)
		switch o := options.(type) {
		case *corev1.PodExecOptions:
			r.VersionedParams(o, scheme.ParameterCodec)
		case *corev1.PodAttachOptions:
			r.VersionedParams(o, scheme.ParameterCodec)
		}
		return r.URL().String()
	}
	dialers := map[string]func(url string) (remotecommand.Executor, error){
		"websocket": func(url string) (remotecommand.Executor, error) {
			return remotecommand.NewWebSocketExecutor(config, http.MethodGet, url)
		},
		"spdy": func(text string) (remotecommand.Executor, error) {
			return remotecommand.NewSPDYExecutor(config, http.MethodPost, parsed(t, text))
		},
	}
	for name, dial := range dialers {
		run := func(sub string, options any, in io.Reader) (string, error) {
			x, err := dial(request(sub, options))
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			err = x.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: in, Stdout: &out})
			return out.String(), err
		}
		if out, err := run("exec", &corev1.PodExecOptions{Command: []string{"env"}, Stdout: true}, nil); err != nil || !strings.Contains(out, "COLOR=red\n") {
			t.Errorf("%s: exec env: %q, %v", name, out, err)
		}
		_, err := run("exec", &corev1.PodExecOptions{Command: []string{"sh", "-c", "exit 7"}, Stdout: true}, nil)
		if exit := (utilexec.CodeExitError{}); !errors.As(err, &exit) || exit.Code != 7 {
			t.Errorf("%s: exec exit 7: %v", name, err)
		}
		if out, err := run("exec", &corev1.PodExecOptions{Command: []string{"cat"}, Stdin: true, Stdout: true}, strings.NewReader("back\n")); err != nil || out != "back\n" {
			t.Errorf("%s: exec cat: %q, %v", name, out, err)
		}
		if line, err := firstLine(ctx, dial, request("attach", &corev1.PodAttachOptions{Stdout: true})); err != nil || line != "what it says\n" {
			t.Errorf("%s: attach: %q, %v", name, line, err)
		}
	}

	transport, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		t.Fatal(err)
	}
	stop, ready := make(chan struct{}), make(chan struct{})
	dialer := spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, parsed(t, request("portforward", nil)))
	forward, err := portforward.NewOnAddresses(dialer, []string{"127.0.0.1"}, []string{"0:80"}, stop, ready, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- forward.ForwardPorts() }()
	select {
	case <-ready:
	case err := <-done:
		t.Fatal(err)
	}
	ports, err := forward.GetPorts()
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/", ports[0].Local))
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(res.Body)
	res.Body.Close()
	if !strings.Contains(string(body), "web") {
		t.Errorf("a forwarded port says %q", body)
	}
	close(stop)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
