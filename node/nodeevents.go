package node

import corev1 "k8s.io/api/core/v1"

// healthyReasons are the reasons of the events about conditions that are healthy again, by condition.
var healthyReasons = map[corev1.NodeConditionType]string{
	corev1.NodeMemoryPressure: "NodeHasSufficientMemory",
	corev1.NodeDiskPressure:   "NodeHasNoDiskPressure",
	corev1.NodePIDPressure:    "NodeHasSufficientPID",
	corev1.NodeReady:          "NodeReady",
}

// recordNodeEvent writes an event about the node's own object.
func (k *kubelet) recordNodeEvent(n *corev1.Node, reason string) {
	if k.options.Events != NoEvents {
		k.recorder.Event(n, corev1.EventTypeNormal, reason, "Node %s status is now: %s", k.name, reason)
	}
}

// recordStarting writes the events of a node that has registered.
func (k *kubelet) recordStarting(n *corev1.Node, anew bool) {
	if k.options.Events != AllEvents {
		return
	}
	k.recorder.Event(n, corev1.EventTypeNormal, "Starting", "Starting kubelet.")
	k.recorder.Event(n, corev1.EventTypeNormal, "NodeAllocatableEnforced", "Updated Node Allocatable limit across pods")
	if anew {
		k.recordHealthy(n, nil)
	}
}

// recordHealthy writes an event for each condition that has become healthy, because it was different or missing
// before.
func (k *kubelet) recordHealthy(n *corev1.Node, before []corev1.NodeCondition) {
	old := map[corev1.NodeConditionType]corev1.ConditionStatus{}
	for _, c := range before {
		old[c.Type] = c.Status
	}
	for _, c := range n.Status.Conditions {
		well := corev1.ConditionFalse
		if c.Type == corev1.NodeReady {
			well = corev1.ConditionTrue
		}
		if reason := healthyReasons[c.Type]; reason != "" && c.Status == well && old[c.Type] != well {
			k.recordNodeEvent(n, reason)
		}
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
