package node_test

import (
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/node/kwok"
	"fairlead.dev/node"
)

func stages(t *testing.T, files ...string) *kwok.Definitions {
	t.Helper()
	for i := range files {
		files[i] = "../examples/stages/" + files[i]
	}
	d, err := kwok.Load(files...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func jobPod(name string) *corev1.Pod {
	p := boundPod(name, "node-1", corev1.RestartPolicyNever)
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "j", UID: "u"}}
	return p
}

// TestPodFast plays kwok's shortest life: a pod that restarts never and is of no Job runs on.
func TestPodFast(t *testing.T) {
	env := served(t)
	pods := client.For[*corev1.Pod](env.Client).Namespace("default")
	run := node.New(env, node.Options{Count: 1, Definitions: stages(t, "pod-fast.yaml")})
	startNodes(t, run)
	for _, p := range []*corev1.Pod{boundPod("a", "node-1", corev1.RestartPolicyNever), jobPod("job")} {
		if _, err := pods.Create(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	await(t, pods, "job", "done", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded })
	a := await(t, pods, "a", "running", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	if a.Status.PodIP == "" || a.Status.HostIP != "172.18.0.2" || !a.Status.ContainerStatuses[0].Ready {
		t.Errorf("status: %+v", a.Status)
	}
	if seen, _ := run.Pod("default", "a"); seen == nil || seen.Status.PodIP != a.Status.PodIP {
		t.Errorf("the node sees %+v", seen)
	}
	if err := pods.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	gone(t, pods, "a")
}

// TestPodGeneral goes through all stages, which annotations make short.
func TestPodGeneral(t *testing.T) {
	env := served(t)
	pods := client.For[*corev1.Pod](env.Client).Namespace("default")
	start(t, env, node.Options{Count: 1, Definitions: stages(t, "pod-general.yaml")})
	p := jobPod("job")
	p.Spec.InitContainers = []corev1.Container{{Name: "i", Image: "busybox"}}
	p.Annotations = map[string]string{}
	for _, s := range []string{"pod-create", "pod-init-container-running", "pod-init-container-completed", "pod-ready", "pod-complete", "pod-delete"} {
		p.Annotations[s+".stage.kwok.x-k8s.io/delay"] = "1ms"
		p.Annotations[s+".stage.kwok.x-k8s.io/jitter-delay"] = "2ms"
	}
	if _, err := pods.Create(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	done := await(t, pods, "job", "done", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded })
	if i := done.Status.InitContainerStatuses[0].State.Terminated; i == nil || done.Status.PodIP == "" || done.Status.StartTime == nil {
		t.Errorf("status: %+v", done.Status)
	}
	if err := pods.Delete(t.Context(), "job"); err != nil {
		t.Fatal(err)
	}
	gone(t, pods, "job")
}

// TestStageBreaksIn fails a pod that otherwise lives its own life.
func TestStageBreaksIn(t *testing.T) {
	env := served(t)
	pods := client.For[*corev1.Pod](env.Client).Namespace("default")
	start(t, env, node.Options{Count: 1, Definitions: stages(t, "failures.yaml")})
	p := boundPod("a", "node-1", corev1.RestartPolicyNever)
	p.Annotations = map[string]string{
		node.RunForAnnotation: "forever",
		"pod-container-running-failed.stage.kwok.x-k8s.io/delay":     "1ms",
		"pod-container-running-failed.stage.kwok.x-k8s.io/exit-code": "42",
	}
	if _, err := pods.Create(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	await(t, pods, "a", "running", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning })
	label := map[string]string{"pod-container-running-failed.stage.kwok.x-k8s.io": "true"}
	if _, err := pods.Patch(t.Context(), "a", client.MergePatch(map[string]any{"metadata": map[string]any{"labels": label}})); err != nil {
		t.Fatal(err)
	}
	failed := await(t, pods, "a", "failed", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodFailed })
	if end := failed.Status.ContainerStatuses[0].State.Terminated; end == nil || end.ExitCode != 42 || end.Reason != "containerFailed" {
		t.Errorf("status: %+v", failed.Status)
	}
	if err := pods.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	gone(t, pods, "a")
}

// TestStageThatOnlyTells: a pod goes on in the built-in lifecycle after a stage that writes an event.
func TestStageThatOnlyTells(t *testing.T) {
	env := served(t)
	pods := client.For[*corev1.Pod](env.Client).Namespace("default")
	file := filepath.Join(t.TempDir(), "stage.yaml")
	const text = `apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: tell}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector: {matchExpressions: [{key: .status.phase, operator: In, values: [Running]}]}
  next: {event: {type: Normal, reason: Told, message: it runs}}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	definitions, err := kwok.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	start(t, env, node.Options{Count: 1, Definitions: definitions})
	if _, err := pods.Create(t.Context(), boundPod("a", "node-1", corev1.RestartPolicyNever)); err != nil {
		t.Fatal(err)
	}
	await(t, pods, "a", "done", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded })
	event(t, env, "a", "Told", "it runs")
}

// TestNodeStages makes a node ready by stages, and then not ready by one.
func TestNodeStages(t *testing.T) {
	env := served(t)
	nodes := client.For[*corev1.Node](env.Client)
	start(t, env, node.Options{Count: 1, Definitions: stages(t, "node-fast.yaml", "failures.yaml")})
	n := await(t, nodes, "node-1", "ready", ready)
	if n.Status.Phase != corev1.NodeRunning || len(n.Status.Conditions) != 5 || n.Status.Allocatable.Cpu().IsZero() {
		t.Errorf("status: %+v", n.Status)
	}
	const name = "node-not-ready.stage.kwok.x-k8s.io"
	meta := map[string]any{"labels": map[string]string{name: "true"}, "annotations": map[string]string{name + "/delay": "1ms", name + "/reason": "Broken"}}
	if _, err := nodes.Patch(t.Context(), "node-1", client.MergePatch(map[string]any{"metadata": meta})); err != nil {
		t.Fatal(err)
	}
	await(t, nodes, "node-1", "broken", func(n *corev1.Node) bool {
		for _, c := range n.Status.Conditions {
			if c.Type == corev1.NodeReady && c.Status == corev1.ConditionFalse {
				return c.Reason == "Broken"
			}
		}
		return false
	})
}

// TestOutage begins and ends an outage by stages. The events of its
// pods meanwhile, happens to them then.
func TestOutage(t *testing.T) {
	env := served(t)
	nodes := client.For[*corev1.Node](env.Client)
	pods := client.For[*corev1.Pod](env.Client).Namespace("default")
	run := node.New(env, node.Options{Count: 1, Definitions: stages(t, "failures.yaml")})
	startNodes(t, run)
	if _, err := pods.Create(t.Context(), boundPod("before", "node-1", "")); err != nil {
		t.Fatal(err)
	}
	running := func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning }
	await(t, pods, "before", "running", running)
	_, changed := run.Pod("default", "before")
	if _, err := nodes.Patch(t.Context(), "node-1", client.MergePatch(map[string]any{"metadata": map[string]any{
		"annotations": map[string]string{node.OutageAnnotation: "true"}}})); err != nil {
		t.Fatal(err)
	}
	for { // until the node has heard of it
		<-changed
		p, next := run.Pod("default", "before")
		if p == nil {
			break
		}
		changed = next
	}
	if _, err := pods.Create(t.Context(), boundPod("meanwhile", "node-1", "")); err != nil {
		t.Fatal(err)
	}
	if p := run.PodAt("10.128.0.2"); p != nil {
		t.Errorf("a pod answers on a node that is dark: %+v", p)
	}
	if _, err := nodes.Patch(t.Context(), "node-1", client.MergePatch(map[string]any{"metadata": map[string]any{
		"labels":      map[string]string{"node-outage.stage.kwok.x-k8s.io": "true"},
		"annotations": map[string]string{"node-outage.stage.kwok.x-k8s.io/lasts": "1ms", "node-outage.stage.kwok.x-k8s.io/delay": "1h"}}})); err != nil {
		t.Fatal(err)
	}
	await(t, nodes, "node-1", "back", func(n *corev1.Node) bool { return n.Annotations[node.OutageAnnotation] == "" })
	await(t, pods, "meanwhile", "running", running)
}
