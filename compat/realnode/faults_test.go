//go:build linux && realnode

package realnode

import (
	"slices"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// lost reports whether a node is not heard of and repels pods.
func lost(n *corev1.Node) bool {
	return Ready(n) == corev1.ConditionUnknown && unreachable(n)
}

func unreachable(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Spec.Taints, func(taint corev1.Taint) bool {
		return taint.Key == corev1.TaintNodeUnreachable && taint.Effect == corev1.TaintEffectNoExecute
	})
}

func back(n *corev1.Node) bool {
	return Ready(n) == corev1.ConditionTrue && len(n.Spec.Taints) == 0
}

// sameContainers checks that the containers that run on a node are the same processes as
// before, and that the API shows the same container for a pod.
func sameContainers(t *testing.T, node *Machine, processes []int, before *corev1.Pod) {
	t.Helper()
	if now := node.Processes("agnhost"); !slices.Equal(now, processes) {
		t.Errorf("processes of containers on %s: %v, before %v", node.Name, now, processes)
	}
	now, err := cluster.Client.CoreV1().Pods(before.Namespace).Get(t.Context(), before.Name, metav1.GetOptions{})
	must(t, err)
	id := func(p *corev1.Pod) string { return p.Status.ContainerStatuses[0].ContainerID }
	if now.UID != before.UID || id(now) != id(before) || now.Status.ContainerStatuses[0].RestartCount != 0 {
		t.Errorf("container %s of pod %s, before %s of pod %s", id(now), now.UID, id(before), before.UID)
	}
}

// TestNodeDies kills the programs of a node, and starts them again: the containers live on.
// The node is drained then.
func TestNodeDies(t *testing.T) {
	ns, node := namespace(t), cluster.Nodes[1]
	pod := run(t, agnhost(ns, "steady", node.Name))[0]
	containers := node.Processes("agnhost")
	if len(containers) == 0 {
		t.Fatal("the container has no process")
	}
	must(t, node.Kill("fairlead", "kubelet", "kube-proxy", "containerd"))
	must(t, cluster.UntilNode(t.Context(), node.Name, "lost", lost))
	must(t, cluster.UntilPod(t.Context(), ns, pod.Name, "unready", func(p *corev1.Pod) bool { return !podReady(p) }))
	if now := node.Processes("agnhost"); !slices.Equal(now, containers) {
		t.Errorf("processes of containers: %v, before %v", now, containers)
	}

	must(t, cluster.StartNode(t.Context(), node))
	must(t, cluster.UntilNode(t.Context(), node.Name, "back", back))
	must(t, cluster.UntilPod(t.Context(), ns, pod.Name, "Ready", podReady))
	sameContainers(t, node, containers, pod)

	t.Run("cordoned and drained", func(t *testing.T) {
		kubectl(t, "cordon", node.Name)
		defer kubectl(t, "uncordon", node.Name)
		out := kubectl(t, "drain", node.Name, "--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout="+patience.String())
		if !strings.Contains(out, "pod/"+pod.Name+" evicted") {
			t.Errorf("kubectl drain: %s", out)
		}
		if left := node.Processes("agnhost"); len(left) > 0 {
			t.Errorf("processes of containers after the drain: %v", left)
		}
		must(t, cluster.UntilDeployment(t.Context(), "kube-system", "coredns"))
	})
}

// TestServerDies kills the control plane under running pods.
func TestServerDies(t *testing.T) {
	ns, node := namespace(t), cluster.Nodes[0]
	pod := run(t, agnhost(ns, "steady", node.Name))[0]
	containers := node.Processes("agnhost")
	before, err := cluster.Client.CoreV1().Nodes().Get(t.Context(), node.Name, metav1.GetOptions{})
	must(t, err)

	must(t, cluster.Server.Kill("fairlead"))
	must(t, cluster.StartServer(t.Context()))
	lease, err := cluster.Client.CoordinationV1().Leases("kube-node-lease").Get(t.Context(), node.Name, metav1.GetOptions{})
	must(t, err)
	must(t, until(t.Context(), cluster.Client.CoordinationV1().RESTClient(), "leases", "kube-node-lease", node.Name, "renewed", func(l *coordinationv1.Lease) bool {
		return l.Spec.RenewTime.After(lease.Spec.RenewTime.Time)
	}))
	must(t, cluster.UntilNode(t.Context(), node.Name, "back", back))
	sameContainers(t, node, containers, pod)
	after, err := cluster.Client.CoreV1().Nodes().Get(t.Context(), node.Name, metav1.GetOptions{})
	must(t, err)
	if since := readySince(after); since != readySince(before) {
		t.Errorf("the node is Ready since %s, was since %s before the crash", since, readySince(before))
	}
	if out := strings.TrimSpace(kubectl(t, "-n", ns, "exec", pod.Name, "--", "hostname")); out != pod.Name {
		t.Errorf("exec: %q", out)
	}
	run(t, agnhost(ns, "new", node.Name))
}

func readySince(n *corev1.Node) metav1.Time {
	for _, condition := range n.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.LastTransitionTime
		}
	}
	return metav1.Time{}
}

// TestPartition takes a node off the network and connects it again.
func TestPartition(t *testing.T) {
	ns, node := namespace(t), cluster.Nodes[1]
	pod := run(t, agnhost(ns, "steady", node.Name))[0]
	containers := node.Processes("agnhost")
	must(t, cluster.Unplug(node))
	defer cluster.Plug(node)
	must(t, cluster.UntilNode(t.Context(), node.Name, "lost", lost))
	if out, err := cluster.Kubectl("-n", ns, "exec", pod.Name, "--request-timeout=20s", "--", "hostname").CombinedOutput(); err == nil {
		t.Errorf("exec on a node without network: %s", out)
	}
	must(t, cluster.Plug(node))
	must(t, cluster.UntilNode(t.Context(), node.Name, "back", back))
	must(t, cluster.UntilPod(t.Context(), ns, pod.Name, "Ready", podReady))
	sameContainers(t, node, containers, pod)
	if out := strings.TrimSpace(kubectl(t, "-n", ns, "exec", pod.Name, "--", "hostname")); out != pod.Name {
		t.Errorf("exec after the partition: %q", out)
	}
}
