package node_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"fairlead.dev/client"
	"fairlead.dev/node"
)

// TestAdmit: a node fails pods that do not fit, even if a scheduler has bound them, in a kubelet's
// words; one that has ended or was refused takes no place.
func TestAdmit(t *testing.T) {
	env := served(t)
	ctx := t.Context()
	run := node.New(env, node.Options{Count: 1, Labels: map[string]string{"disk": "ssd"}, Capacity: corev1.ResourceList{
		"cpu": resource.MustParse("2"), "memory": resource.MustParse("1Gi"), "pods": resource.MustParse("4"), "example.com/gpu": resource.MustParse("1"),
	}})
	startNodes(t, run)
	nodes, pods := client.For[*corev1.Node](env.Client), client.For[*corev1.Pod](env.Client).Namespace("default")
	await(t, nodes, "node-1", "ready", ready)

	asks := func(list ...string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}
			for i := 0; i < len(list); i += 2 {
				name := corev1.ResourceName(list[i])
				p.Spec.Containers[0].Resources.Requests[name] = resource.MustParse(list[i+1])
				if strings.Contains(list[i], "/") {
					p.Spec.Containers[0].Resources.Limits[name] = resource.MustParse(list[i+1])
				}
			}
		}
	}
	port := func(n int32, ip string, protocol corev1.Protocol) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: n, HostIP: ip, Protocol: protocol}}
		}
	}
	affine := func(key string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpDoesNotExist}}}},
			}}}
		}
	}
	const affinity = "NodeAffinity: Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"
	const ports = "NodePorts: Pod was rejected: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports"
	const taint = "TaintToleration: Pod was rejected: Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate"
	try := func(name string, change func(*corev1.Pod), want string) *corev1.Pod {
		t.Helper()
		p := boundPod(name, "node-1", corev1.RestartPolicyAlways)
		change(p)
		if _, err := pods.Create(ctx, p); err != nil {
			t.Fatal(err)
		}
		p = await(t, pods, name, "taken or not", func(p *corev1.Pod) bool { return p.Status.Phase != corev1.PodPending })
		got := ""
		if p.Status.Phase == corev1.PodFailed {
			got = fmt.Sprintf("%s: %s", p.Status.Reason, p.Status.Message)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		return p
	}
	leave := func(name string) {
		t.Helper()
		if err := pods.Delete(ctx, name); err != nil {
			t.Fatal(err)
		}
		gone(t, pods, name)
	}

	try("a", asks("cpu", "1500m", "example.com/gpu", "1", "example.com/unknown", "9"), "")
	try("b", asks("cpu", "600m", "memory", "2Gi"), "OutOfcpu: Pod was rejected: Node didn't have enough resource: cpu, requested: 600, used: 1500, capacity: 2000")
	try("c", asks("memory", "2Gi"), "OutOfmemory: Pod was rejected: Node didn't have enough resource: memory, requested: 2147483648, used: 0, capacity: 1073741824")
	try("d", asks("cpu", "500m", "example.com/gpu", "1"), "OutOfexample.com/gpu: Pod was rejected: Node didn't have enough resource: example.com/gpu, requested: 1, used: 1, capacity: 1")
	try("e", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "hdd"} }, affinity)
	try("f", affine("disk"), affinity)
	try("g", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"disk": "ssd"} }, "")
	leave("g")
	try("h", affine("tape"), "")
	leave("h")
	try("i", port(8080, "127.0.0.1", corev1.ProtocolTCP), "")
	try("j", port(8080, "", corev1.ProtocolTCP), ports)
	try("k", port(8080, "127.0.0.2", corev1.ProtocolTCP), "")
	leave("k")
	try("l", port(8080, "", corev1.ProtocolUDP), "")
	leave("l")
	leave("i")
	try("m", port(8080, "", corev1.ProtocolTCP), "")
	try("n", func(*corev1.Pod) {}, "")
	try("o", func(*corev1.Pod) {}, "")
	try("p", func(*corev1.Pod) {}, "OutOfpods: Pod was rejected: Node didn't have enough resource: pods, requested: 1, used: 4, capacity: 4")
	leave("n")
	leave("o")
	try("q", func(p *corev1.Pod) { p.Spec.OS = &corev1.PodOS{Name: corev1.Windows} }, "PodOSNotSupported: Pod was rejected: Failed to admit pod as the OS field doesn't match node OS")

	grown, err := nodes.Patch(ctx, "node-1", client.StrategicPatch(map[string]any{"status": map[string]any{"allocatable": map[string]any{"cpu": "8"}}}).On("status"))
	if err != nil || grown.Status.Allocatable.Cpu().Value() != 8 {
		t.Fatal(err)
	}
	try("r", asks("cpu", "5"), "")
	leave("r")
	if _, err := nodes.Patch(ctx, "node-1", client.MergePatch(map[string]any{"spec": map[string]any{"taints": []any{map[string]any{"key": "gone", "effect": "NoExecute"}}}})); err != nil {
		t.Fatal(err)
	}
	for i := 0; ; i++ { // the node gives no signal that it has seen it
		name := fmt.Sprintf("s%d", i)
		p := boundPod(name, "node-1", corev1.RestartPolicyAlways)
		if _, err := pods.Create(ctx, p); err != nil {
			t.Fatal(err)
		}
		p = await(t, pods, name, "taken or not", func(p *corev1.Pod) bool { return p.Status.Phase != corev1.PodPending })
		leave(name)
		if p.Status.Phase == corev1.PodFailed {
			if got := p.Status.Reason + ": " + p.Status.Message; got != taint {
				t.Errorf("%s: %s", name, got)
			}
			break
		}
	}
	try("t", func(p *corev1.Pod) {
		p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	}, "")

	// A reason to reject a new pod defers a resize as well.
	if _, err := pods.Patch(ctx, "a", client.StrategicPatch(map[string]any{"spec": map[string]any{"containers": []any{
		map[string]any{"name": "c", "resources": map[string]any{"requests": map[string]any{"cpu": "1"}}}}}}).On("resize")); err != nil {
		t.Fatal(err)
	}
	await(t, pods, "a", "deferred for the taint", func(p *corev1.Pod) bool {
		return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodResizePending && c.Reason == corev1.PodReasonDeferred && "TaintToleration: Pod was rejected: "+c.Message == taint
		})
	})
}
