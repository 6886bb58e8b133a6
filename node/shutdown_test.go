package node_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/node"
)

const shutDown = "Pod was terminated in response to imminent node shutdown."

// TestShutdown: pods end in groups by their priority, each within its time; the node is not ready and takes no pods, and
// then it is off until it is started again, with another boot ID.
func TestShutdown(t *testing.T) {
	inBubble(t, map[string]string{node.KubeletConfigAnnotation: kubeletConfig + `"shutdownGracePeriod": "60s", "shutdownGracePeriodCriticalPods": "20s"}`}, func(b *bubble) {
		before, err := b.nodes.Get(b.Context(), "node-1")
		if err != nil {
			t.Fatal(err)
		}
		takes := func(d string) func(*corev1.Pod) {
			return func(p *corev1.Pod) { p.Annotations = map[string]string{"fairlead.dev/terminate-after": d} }
		}
		b.create("quick", "", nil)
		b.create("slow", "", takes("15s"))
		b.create("critical", "", func(p *corev1.Pod) { critical(p); takes("1h")(p) })
		time.Sleep(time.Second)
		b.areRunning("critical", "quick", "slow")

		b.annotate(map[string]string{node.ShutdownAnnotation: "true"})
		time.Sleep(time.Second)
		b.areRunning("critical", "slow")
		b.failed("quick", "Terminated", shutDown, true)
		b.condition(corev1.NodeReady, "False KubeletNotReady: node is shutting down")
		b.told("node-1", "NodeShutdown", "Shutdown manager detected shutdown event")
		b.told("node-1", "NodeNotReady", "Node node-1 status is now: NodeNotReady")
		b.create("late", "", nil)
		time.Sleep(time.Second)
		b.failed("late", "NodeShutdown", "Pod was rejected: Pod was rejected as the node is shutting down.", false)

		time.Sleep(14 * time.Second) // the slow pod has ended, and the critical one has 20 seconds from then on
		b.areRunning("critical")
		b.failed("slow", "Terminated", shutDown, true)
		time.Sleep(18 * time.Second)
		b.areRunning("critical")
		time.Sleep(2 * time.Second)
		b.failed("critical", "Terminated", shutDown, true)

		time.Sleep(2 * time.Minute)
		b.condition(corev1.NodeReady, "Unknown NodeStatusUnknown: Kubelet stopped posting node status.")
		b.tainted(corev1.TaintNodeUnreachable, true)

		b.annotate(map[string]string{node.ShutdownAnnotation: ""})
		time.Sleep(time.Second)
		b.condition(corev1.NodeReady, "True KubeletReady: kubelet is posting ready status")
		after, err := b.nodes.Get(b.Context(), "node-1")
		if err != nil || after.Status.NodeInfo.BootID == before.Status.NodeInfo.BootID {
			t.Errorf("boot ID %s, before %s, %v", after.Status.NodeInfo.BootID, before.Status.NodeInfo.BootID, err)
		}
		b.told("node-1", "Rebooted", "Node node-1 has been rebooted, boot id: "+after.Status.NodeInfo.BootID)
		b.create("next", "", nil)
		time.Sleep(time.Second)
		b.areRunning("next")
	})
}

// TestShutdownByPriority: the groups are those of the configuration, and a shutdown that is canceled leaves the pods that
// have not ended.
func TestShutdownByPriority(t *testing.T) {
	inBubble(t, map[string]string{node.KubeletConfigAnnotation: kubeletConfig + `"shutdownGracePeriodByPodPriority": [{"priority": 100, "shutdownGracePeriodSeconds": 20}, {"priority": 0, "shutdownGracePeriodSeconds": 10}]}`}, func(b *bubble) {
		b.create("low", "", func(p *corev1.Pod) { p.Annotations = map[string]string{"fairlead.dev/terminate-after": "1h"} })
		b.create("high", "", func(p *corev1.Pod) { critical(p) })
		time.Sleep(time.Second)
		b.annotate(map[string]string{node.ShutdownAnnotation: "true"})
		time.Sleep(9 * time.Second)
		b.areRunning("high", "low")
		b.annotate(map[string]string{node.ShutdownAnnotation: ""})
		time.Sleep(2 * time.Second)
		b.areRunning("high")
		b.failed("low", "Terminated", shutDown, true)
		b.told("node-1", "NodeShutdown", "Shutdown manager detected shutdown cancellation")
		time.Sleep(time.Minute)
		b.areRunning("high")
		b.condition(corev1.NodeReady, "True KubeletReady: kubelet is posting ready status")
	})
}

// TestPowerOff: without a grace period the node is off at once, and its pods stay until they are moved by the taint for nodes
// that are out of service.
func TestPowerOff(t *testing.T) {
	inBubble(t, nil, func(b *bubble) {
		b.create("web", "", nil)
		time.Sleep(time.Second)
		b.annotate(map[string]string{node.ShutdownAnnotation: "true"})
		time.Sleep(time.Minute)
		b.areRunning("web")
		b.condition(corev1.NodeReady, "Unknown NodeStatusUnknown: Kubelet stopped posting node status.")
		if err := b.pods.Delete(b.Context(), "web"); err != nil {
			t.Fatal(err)
		}
		b.outOfService()
		time.Sleep(time.Minute)
		b.areRunning()
	})
}
