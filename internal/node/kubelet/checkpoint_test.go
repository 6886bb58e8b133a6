package kubelet_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/testenv"
)

// TestNodeProxy asks a kubelet through the server: pods that run, checkpoints, health, usage and configuration. The server
// authorizes it as nodes/proxy.
func TestNodeProxy(t *testing.T) {
	env := testenv.New(t, testenv.Options{Nodes: 1, NoScheduler: true, Controllers: []string{"serviceaccount"}})
	c := env.Client(t)
	w := world{env, client.For[*corev1.Pod](c).Namespace("default"), env.Config().Host + "/api/v1/namespaces/default/pods/"}
	await(t, client.For[*corev1.ServiceAccount](c).Namespace("default"), "default", func(*corev1.ServiceAccount) bool { return true })
	w.run(t, "web", func(p *corev1.Pod) {
		p.Annotations = map[string]string{"fairlead.dev/usage-ephemeral-storage": "1Gi", "fairlead.dev/usage-processes": "7"}
	})
	w.run(t, "done", func(p *corev1.Pod) {
		p.Spec.RestartPolicy, p.Spec.Containers[0].Command = corev1.RestartPolicyNever, []string{"true"}
	})
	await(t, w.pods, "web", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	await(t, w.pods, "done", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded })
	nodes := client.For[*corev1.Node](c)
	if _, err := nodes.Patch(t.Context(), "node-1", client.MergePatch(map[string]any{"metadata": map[string]any{"annotations": map[string]any{
		"fairlead.dev/kubelet-config": `{"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", "shutdownGracePeriod": "30s"}`,
		"fairlead.dev/system-usage":   "ephemeral-storage=3Gi,processes=100",
	}}})); err != nil {
		t.Fatal(err)
	}
	ask := func(user, method, path string) (int, string) {
		t.Helper()
		config := rest.CopyConfig(env.Config())
		config.Impersonate.UserName = user
		c, err := rest.HTTPClientFor(config)
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), method, config.Host+"/api/v1/nodes/node-1/proxy"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := c.Do(req)
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
	for path, want := range map[string]string{
		"/healthz/syncloop": "ok",
		"/configz":          `"shutdownGracePeriod":"30s"`,
		"/stats/summary":    `"process_stats":{"process_count":7}`,
	} {
		if code, got := ask("", http.MethodGet, path); code != 200 || !strings.Contains(got, want) {
			t.Errorf("%s: %d %s", path, code, got)
		}
	}
	code, text := ask("", http.MethodGet, "/stats/summary")
	var summary struct {
		Node struct {
			FS     struct{ UsedBytes, AvailableBytes, CapacityBytes int64 }
			Rlimit struct{ Curproc int64 }
		}
	}
	if err := json.Unmarshal([]byte(text), &summary); err != nil {
		t.Fatal(err)
	}
	if n := summary.Node; code != 200 || n.FS.UsedBytes != 4<<30 || n.FS.AvailableBytes != 96<<30 || n.FS.CapacityBytes != 100<<30 || n.Rlimit.Curproc != 107 {
		t.Errorf("summary: %d %+v", code, n)
	}
	code, text = ask("", http.MethodGet, "/runningpods/")
	var list corev1.PodList
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	if code != 200 || list.Kind != "PodList" || len(list.Items) != 1 || list.Items[0].Name != "web" || list.Items[0].Spec.Containers[0].Name != "c" {
		t.Errorf("running pods: %d %s", code, text)
	}

	if code, got := ask("", http.MethodPost, "/checkpoint/default/web/c"); code != 200 || !strings.HasPrefix(got, `{"items":["/var/lib/kubelet/checkpoints/checkpoint-web_default-c-`) || !strings.Contains(got, `.tar"]}`) {
		t.Errorf("checkpoint: %d %s", code, got)
	}
	for path, want := range map[string]string{
		"/checkpoint/default/absent/c": "404 pod does not exist",
		"/checkpoint/default/web/x":    "404 container x does not exist",
		"/checkpoint/default/done/c":   `500 checkpointing of default/done/c failed (container "c" is not running)`,
	} {
		code, text := ask("", http.MethodPost, path)
		if got := fmt.Sprint(code, " ", text); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	for method, verb := range map[string]string{http.MethodGet: "get", http.MethodPost: "create"} {
		if code, text := ask("bob", method, "/pods"); code != 403 || !strings.Contains(text, `cannot `+verb+` resource \"nodes/proxy\"`) {
			t.Errorf("%s: %d %s", method, code, text)
		}
	}
}
