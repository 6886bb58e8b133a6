package node_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/node"
)

// fake returns a Node as kwok's users apply it.
func fake(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"}}}
}

func create[T client.Object](t *testing.T, r client.Resource[T], o T) T {
	t.Helper()
	o, err := r.Create(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestAppliedNodes checks that Nodes that are applied with kwok's annotation are simulated with the capacity and nodeInfo that they
// state, also after a restart; and that other Nodes are left alone.
func TestAppliedNodes(t *testing.T) {
	env := served(t)
	nodes, pods := client.For[*corev1.Node](env.Client), client.For[*corev1.Pod](env.Client).Namespace("default")
	template := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"pool": "simulated", "type": "usual"}}}
	template.Spec.Taints = []corev1.Taint{{Key: "simulated", Effect: corev1.TaintEffectNoSchedule}}
	template.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("30")}
	options := node.Options{Count: 2, Adopt: true, Template: template}
	early := create(t, nodes, fake("early"))
	bystander := create(t, nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "bystander"}})
	ns := node.New(env, options)
	stop := startNodes(t, ns)
	<-ns.Joined()
	if n, err := nodes.Get(t.Context(), early.Name); err != nil || !ready(n) || n.UID != early.UID {
		t.Errorf("the Node that was applied before the start is %+v, %v", n, err)
	}

	given := fake("large")
	given.Labels = map[string]string{"type": "large"}
	given.Status.Capacity = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourcePods: resource.MustParse("500")}
	given.Status.Allocatable = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
	given.Status.NodeInfo = corev1.NodeSystemInfo{KubeletVersion: "fake", Architecture: "arm64"}
	create(t, nodes, given)
	large := await(t, nodes, "large", "ready", ready)
	got := map[string]string{
		"type": large.Labels["type"], "pool": large.Labels["pool"], "host": large.Labels[corev1.LabelHostname], "taint": "none",
		"cpu": large.Status.Capacity.Cpu().String(), "allocatable cpu": large.Status.Allocatable.Cpu().String(),
		"memory": large.Status.Capacity.Memory().String(), "pods": large.Status.Allocatable.Pods().String(),
		"version": large.Status.NodeInfo.KubeletVersion, "arch": large.Status.NodeInfo.Architecture, "os": large.Status.NodeInfo.OperatingSystem,
		"range": large.Spec.PodCIDR, "address": large.Status.Addresses[0].Address,
	}
	for _, taint := range large.Spec.Taints {
		if taint.Key == "simulated" {
			got["taint"] = string(taint.Effect)
		}
	}
	want := map[string]string{
		"type": "large", "pool": "simulated", "host": "large", "taint": "NoSchedule", "cpu": "64", "allocatable cpu": "64", "memory": "1Gi", "pods": "500",
		"version": "fake", "arch": "arm64", "os": "linux",
		"range": "10.128.4.0/22", "address": "10.128.4.1", // 10.128.0 and .1 are of the two nodes, .2 is that of early
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the applied Node:%s", diff)
	}

	create(t, pods, boundPod("p", "large", ""))
	running := func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning }
	if p := await(t, pods, "p", "running", running); p.Status.HostIP != "10.128.4.1" || p.Status.PodIP != "10.128.4.2" {
		t.Errorf("the pod is at %s, %s", p.Status.HostIP, p.Status.PodIP)
	}
	if ns.PodAt("10.128.4.2") == nil || ns.NodeAt("10.128.4.1") != "large" {
		t.Error("the addresses of the node or of its pod are unknown")
	}

	stop()
	again := node.New(env, options)
	startNodes(t, again)
	<-again.Joined()
	create(t, pods, boundPod("q", "large", ""))
	await(t, pods, "q", "running", running)
	now, err := nodes.Get(t.Context(), "large")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(large.Status.Addresses, now.Status.Addresses) + cmp.Diff(large.Spec, now.Spec) + cmp.Diff(large.Status.Capacity, now.Status.Capacity) +
		cmp.Diff(large.Status.Allocatable, now.Status.Allocatable) + cmp.Diff(large.Status.NodeInfo, now.Status.NodeInfo); diff != "" {
		t.Errorf("after the restart:%s", diff)
	}
	if n, err := nodes.Get(t.Context(), "bystander"); err != nil || n.ResourceVersion != bystander.ResourceVersion {
		t.Errorf("a Node without the annotation was changed: %+v, %v", n, err)
	}
}

// TestDeletedNodeReturns checks that a node ends with its last pod after its Node was deleted, and is simulated again when the
// Node is applied again, even while its pods are there.
func TestDeletedNodeReturns(t *testing.T) {
	env := served(t)
	nodes, pods := client.For[*corev1.Node](env.Client), client.For[*corev1.Pod](env.Client).Namespace("default")
	ns := node.New(env, node.Options{Count: 2})
	startNodes(t, ns)
	<-ns.Joined()
	remove := func(name string) {
		t.Helper()
		if err := nodes.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	running := func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning }
	create(t, pods, boundPod("p", "node-2", ""))
	await(t, pods, "p", "running", running)
	first, err := nodes.Get(t.Context(), "node-2")
	if err != nil {
		t.Fatal(err)
	}
	stopped := ns.Stopped("node-2")
	remove("node-2")
	create(t, nodes, fake("node-2"))
	<-stopped
	back := await(t, nodes, "node-2", "ready", ready)
	if back.UID == first.UID || back.Status.Addresses[0] != first.Status.Addresses[0] || back.Spec.PodCIDR != first.Spec.PodCIDR {
		t.Errorf("it came back as %+v", back)
	}
	if err := pods.Delete(t.Context(), "p", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	create(t, pods, boundPod("q", "node-2", ""))
	await(t, pods, "q", "running", running)

	// Without Options.Adopt only names of these nodes are taken.
	other := create(t, nodes, fake("other"))
	stopped = ns.Stopped("node-1")
	remove("node-1")
	<-stopped // it has no pods
	create(t, nodes, fake("node-1"))
	await(t, nodes, "node-1", "ready", ready)
	if n, err := nodes.Get(t.Context(), "other"); err != nil || n.ResourceVersion != other.ResourceVersion {
		t.Errorf("a Node of another name was changed: %+v, %v", n, err)
	}
}
