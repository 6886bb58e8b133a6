package node

import corev1 "k8s.io/api/core/v1"

// healthyReasons are the reasons of the events by which a node tells that it is well, by condition.
var healthyReasons = map[corev1.NodeConditionType]string{
	corev1.NodeMemoryPressure: "NodeHasSufficientMemory",
	corev1.NodeDiskPressure:   "NodeHasNoDiskPressure",
	corev1.NodePIDPressure:    "NodeHasSufficientPID",
	corev1.NodeReady:          "NodeReady",
}

// tellStatus writes an event about the node's own object.
func (k *kubelet) tellStatus(n *corev1.Node, reason string) {
	if k.options.Events != NoEvents {
		k.recorder.Event(n, corev1.EventTypeNormal, reason, "Node %s status is now: %s", k.name, reason)
	}
}

// tellStarted writes the events of a node that has registered.
func (k *kubelet) tellStarted(n *corev1.Node, anew bool) {
	if k.options.Events != AllEvents {
		return
	}
	k.recorder.Event(n, corev1.EventTypeNormal, "Starting", "Starting kubelet.")
	k.recorder.Event(n, corev1.EventTypeNormal, "NodeAllocatableEnforced", "Updated Node Allocatable limit across pods")
	if anew {
		k.tellWell(n, nil)
	}
}

// tellWell writes of each condition that others had made something else of, or that was not there, that it is
// well again.
func (k *kubelet) tellWell(n *corev1.Node, before []corev1.NodeCondition) {
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
			k.tellStatus(n, reason)
		}
	}
}

// tellReboot writes that the machine is no longer that, or has not run since, of which the status told before.
func (k *kubelet) tellReboot(n *corev1.Node, before string) {
	if now := n.Status.NodeInfo.BootID; before != "" && before != now && k.options.Events != NoEvents {
		k.recorder.Event(n, corev1.EventTypeWarning, "Rebooted", "Node %s has been rebooted, boot id: %s", k.name, now)
	}
}

// tellSchedulable writes whether pods may be scheduled to the node, when that has changed.
func (k *kubelet) tellSchedulable(n *corev1.Node, before bool) {
	switch {
	case n.Spec.Unschedulable && !before:
		k.tellStatus(n, "NodeNotSchedulable")
	case !n.Spec.Unschedulable && before:
		k.tellStatus(n, "NodeSchedulable")
	}
}
