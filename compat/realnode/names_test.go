//go:build linux && realnode

package realnode

import (
	"context"
	"strings"
	"testing"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// TestSecondKubelet gives a machine the name of a node that is alive. `fairlead join` refuses. A kubelet without it
// joins, as it does in Kubernetes, and an Event reports that. The containers of the first one go on, and it is
// the node again when the second one has ended.
func TestSecondKubelet(t *testing.T) {
	ns, node := namespace(t), cluster.Nodes[0]
	args := invitation(t)
	pod := run(t, agnhost(ns, "steady", node.Name))[0]
	containers := node.Processes("agnhost")

	refused(t, "the node n1 is Ready, so another machine has that name", append(args, "--node-name=n1")...)
	sameContainers(t, node, containers, pod)

	log, after := startKubelet(t, node.Name, args[2])
	event := untilEvent(t, fields.Set{"reason": "SecondKubelet", "involvedObject.name": node.Name}, bootstrapUser(args))
	if event.Type != corev1.EventTypeWarning || event.InvolvedObject.Kind != "Node" {
		t.Errorf("Event %s of %s", event.Type, event.InvolvedObject.Kind)
	}
	untilLogged(t, log, after, "Node was previously registered", 1)
	must(t, cluster.Spares[0].Stop("kubelet"))

	must(t, cluster.UntilNode(t.Context(), node.Name, "the first one", func(n *corev1.Node) bool {
		return back(n) && internalIP(n) == nodeIP(0)
	}))
	must(t, cluster.UntilPod(t.Context(), ns, pod.Name, "Ready", podReady))
	sameContainers(t, node, containers, pod)
	if out := strings.TrimSpace(kubectl(t, "-n", ns, "exec", pod.Name, "--", "hostname")); out != pod.Name {
		t.Errorf("exec: %q", out)
	}
	run(t, agnhost(ns, "new", node.Name), agnhost(ns, "client", cluster.Nodes[1].Name))
	if out := kubectl(t, "-n", ns, "exec", "client", "--", "curl", "-s", "--fail", "--retry", "60", "--retry-delay", "1", "--retry-all-errors", "--max-time", "5",
		"http://"+pod.Status.PodIP+":9376"); out != pod.Name {
		t.Errorf("from the other node: %q", out)
	}
}

func internalIP(n *corev1.Node) string {
	for _, a := range n.Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			return a.Address
		}
	}
	return ""
}

// bootstrapUser is the user of an invitation's token.
func bootstrapUser(invitation []string) string {
	id, _, _ := strings.Cut(invitation[2], ".")
	return "system:bootstrap:" + id
}

// untilEvent waits for an Event with a text in its message, and returns it.
func untilEvent(t *testing.T, selector fields.Set, text string) *corev1.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	list := cache.NewListWatchFromClient(cluster.Client.CoreV1().RESTClient(), "events", metav1.NamespaceAll, selector.AsSelector())
	found, err := watchtools.UntilWithSync(ctx, list, &corev1.Event{}, nil, func(e watch.Event) (bool, error) {
		event, ok := e.Object.(*corev1.Event)
		return ok && e.Type != watch.Deleted && strings.Contains(event.Message, text), nil
	})
	if err != nil {
		t.Fatalf("no Event %v with %q: %v", selector, text, err)
	}
	return found.Object.(*corev1.Event)
}

// TestNameOfSimulatedNode gives a machine the name of a simulated node. `fairlead join` refuses, a kubelet without it
// gets no certificate, and the simulated node goes on.
func TestNameOfSimulatedNode(t *testing.T) {
	const name = "node-1"
	ns := namespace(t)
	args := invitation(t)
	pod := run(t, agnhost(ns, "steady", name))[0]
	before, err := cluster.Client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
	must(t, err)

	refused(t, "the name node-1 is that of a simulated node", append(args, "--node-name="+name)...)

	log, after := startKubelet(t, name, args[2])
	denied := untilDenied(t, bootstrapUser(args))
	if denied.Reason != "NodeNameTaken" || !strings.Contains(denied.Message, "a simulated node has that name") {
		t.Errorf("denied: %s, %s", denied.Reason, denied.Message)
	}
	untilLogged(t, log, after, "NodeNameTaken", 1)
	must(t, cluster.Spares[0].Stop("kubelet"))

	now, err := cluster.Client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
	must(t, err)
	if now.UID != before.UID || now.Status.NodeInfo != before.Status.NodeInfo || internalIP(now) != internalIP(before) || readySince(now) != readySince(before) || !back(now) {
		t.Errorf("the simulated node is %v, %v; before %v, %v", now.UID, now.Status, before.UID, before.Status)
	}
	same, err := cluster.Client.CoreV1().Pods(ns).Get(t.Context(), pod.Name, metav1.GetOptions{})
	must(t, err)
	if same.UID != pod.UID || same.Status.ContainerStatuses[0].ContainerID != pod.Status.ContainerStatuses[0].ContainerID || !podReady(same) {
		t.Errorf("its pod is %v, before %v", same.Status, pod.Status)
	}
}

// untilDenied waits until a request of a user is denied, and returns the condition.
func untilDenied(t *testing.T, user string) (denied certificatesv1.CertificateSigningRequestCondition) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	list := cache.NewListWatchFromClient(cluster.Client.CertificatesV1().RESTClient(), "certificatesigningrequests", "", fields.Everything())
	_, err := watchtools.UntilWithSync(ctx, list, &certificatesv1.CertificateSigningRequest{}, nil, func(event watch.Event) (bool, error) {
		r, ok := event.Object.(*certificatesv1.CertificateSigningRequest)
		if !ok || r.Spec.Username != user {
			return false, nil
		}
		for _, c := range r.Status.Conditions {
			if c.Type == certificatesv1.CertificateDenied {
				denied = c
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil {
		t.Fatalf("no request of %s was denied: %v", user, err)
	}
	return denied
}
