//go:build linux && realnode

package realnode

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/test/utils/image"
)

// TestKubeletUpgrade joins the spare machine with a kubelet of the minor version before the cluster's, ends it, and starts the
// cluster's in its place. The earlier one is upstream's, built from its own module, not the same one with another version
// stamped into it. Containers go on. Then the node leaves.
func TestKubeletUpgrade(t *testing.T) {
	ns, node := namespace(t), spare(t)
	program, was := earlierKubelet(t)
	version := cluster.kit.kubernetes
	args := invitation(t)
	must(t, node.serve("fairlead", slices.Concat([]string{"join"}, args, []string{"--kubelet=" + program}, cluster.joinArgs(node))...))
	must(t, cluster.UntilReady(t.Context(), node.Name))
	before, err := cluster.Client.CoreV1().Nodes().Get(t.Context(), node.Name, metav1.GetOptions{})
	must(t, err)
	if got := before.Status.NodeInfo.KubeletVersion; got != was || was == version {
		t.Fatalf("the kubelet of %s has the version %s, want %s and not %s", node.Name, got, was, version)
	}
	pod := run(t, agnhost(ns, "steady", node.Name))[0]
	containers := node.Processes("agnhost")

	must(t, node.Stop("fairlead"))
	if left := node.Processes("kubelet", "kube-proxy"); len(left) > 0 {
		t.Errorf("fairlead join has left the processes %v", left)
	}
	must(t, node.serve("fairlead", slices.Concat([]string{"join", args[0]}, cluster.joinArgs(node))...)) // without the token
	must(t, cluster.UntilNode(t.Context(), node.Name, "upgraded", func(n *corev1.Node) bool {
		return n.Status.NodeInfo.KubeletVersion == version && back(n)
	}))
	next := agnhost(ns, "next", node.Name)
	next.Spec.Containers[0].Image, next.Spec.Containers[0].Args = image.GetE2EImage(image.BusyBox), []string{"sleep", "1000000"}
	run(t, next) // when it is Ready, the new kubelet knows the older pod, too
	sameContainers(t, node, containers, pod)
	after, err := cluster.Client.CoreV1().Nodes().Get(t.Context(), node.Name, metav1.GetOptions{})
	must(t, err)
	if after.UID != before.UID {
		t.Errorf("the Node has the UID %s, before %s", after.UID, before.UID)
	}
	now, err := cluster.Client.CoreV1().Pods(ns).Get(t.Context(), pod.Name, metav1.GetOptions{})
	must(t, err)
	started := func(p *corev1.Pod) metav1.Time { return p.Status.ContainerStatuses[0].State.Running.StartedAt }
	if !podReady(now) || started(now) != started(pod) {
		t.Errorf("the container runs since %s, before since %s", started(now), started(pod))
	}
	if out := kubectl(t, "get", "node", node.Name, "--no-headers"); !strings.Contains(out, version) {
		t.Errorf("kubectl get node: %s", out)
	}
	if out := strings.TrimSpace(kubectl(t, "-n", ns, "exec", pod.Name, "--", "hostname")); out != pod.Name {
		t.Errorf("exec: %q", out)
	}
	leave(t, node)
}
