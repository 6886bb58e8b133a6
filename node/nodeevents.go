package node

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/node/eviction"
)

// recordNodeEvent writes an event about the node's own object.
func (k *kubelet) recordNodeEvent(n *corev1.Node, reason string) {
	if k.options.Events != NoEvents {
		k.recorder.Event(n, corev1.EventTypeNormal, reason, "Node %s status is now: %s", k.name, reason)
	}
}

// recordAbout writes an event of the kubelet about its node.
func (k *kubelet) recordAbout(n *corev1.Node, kind, reason, message string) {
	if k.options.Events != NoEvents {
		k.recorder.Event(n, kind, reason, "%s", message)
	}
}

// recordThreshold writes the event of a kubelet that is about to end pods for a threshold. mu is held.
func (k *kubelet) recordThreshold(t eviction.Threshold) {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: k.name, UID: k.mu.uid}}
	k.recordAbout(n, corev1.EventTypeWarning, "EvictionThresholdMet", "Attempting to reclaim "+string(t.Signal.Resource()))
}

// recordStarting writes the events of a node that has registered.
func (k *kubelet) recordStarting(n *corev1.Node, anew bool) {
	if k.options.Events != AllEvents {
		return
	}
	k.recorder.Event(n, corev1.EventTypeNormal, "Starting", "Starting kubelet.")
	k.recorder.Event(n, corev1.EventTypeNormal, "NodeAllocatableEnforced", "Updated Node Allocatable limit across pods")
	if anew {
		k.recordConditions(n, nil)
	}
}

// recordReboot writes an event if the boot ID has changed.
func (k *kubelet) recordReboot(n *corev1.Node, before string) {
	if now := n.Status.NodeInfo.BootID; before != "" && before != now && k.options.Events != NoEvents {
		k.recorder.Event(n, corev1.EventTypeWarning, "Rebooted", "Node %s has been rebooted, boot id: %s", k.name, now)
	}
}

// recordSchedulable writes an event if spec.unschedulable has changed.
func (k *kubelet) recordSchedulable(n *corev1.Node, before bool) {
	switch {
	case n.Spec.Unschedulable && !before:
		k.recordNodeEvent(n, "NodeNotSchedulable")
	case !n.Spec.Unschedulable && before:
		k.recordNodeEvent(n, "NodeSchedulable")
	}
}
