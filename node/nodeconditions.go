package node

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// nodeCondition is a condition of a Node in a kubelet's words: well and unwell.
type nodeCondition struct {
	is           corev1.NodeConditionType
	well, unwell condition
}

// condition is a status with the event about a change to it.
type condition struct {
	status                 corev1.ConditionStatus
	reason, message, event string
}

var nodeConditions = []nodeCondition{
	{corev1.NodeMemoryPressure,
		condition{corev1.ConditionFalse, "KubeletHasSufficientMemory", "kubelet has sufficient memory available", "NodeHasSufficientMemory"},
		condition{corev1.ConditionTrue, "KubeletHasInsufficientMemory", "kubelet has insufficient memory available", "NodeHasInsufficientMemory"}},
	{corev1.NodeDiskPressure,
		condition{corev1.ConditionFalse, "KubeletHasNoDiskPressure", "kubelet has no disk pressure", "NodeHasNoDiskPressure"},
		condition{corev1.ConditionTrue, "KubeletHasDiskPressure", "kubelet has disk pressure", "NodeHasDiskPressure"}},
	{corev1.NodePIDPressure,
		condition{corev1.ConditionFalse, "KubeletHasSufficientPID", "kubelet has sufficient PID available", "NodeHasSufficientPID"},
		condition{corev1.ConditionTrue, "KubeletHasInsufficientPID", "kubelet has insufficient PID available", "NodeHasInsufficientPID"}},
	{corev1.NodeReady,
		condition{corev1.ConditionTrue, "KubeletReady", "kubelet is posting ready status", "NodeReady"},
		condition{corev1.ConditionFalse, "KubeletNotReady", "node is shutting down", "NodeNotReady"}},
}

// conditions returns the conditions of the node. mu is held.
func (k *kubelet) conditions(now time.Time) []corev1.NodeCondition {
	all := make([]corev1.NodeCondition, 0, len(nodeConditions))
	at := metav1.NewTime(now)
	for i := range nodeConditions {
		of := &nodeConditions[i]
		c := &of.well
		if slices.Contains(k.mu.under, of.is) || of.is == corev1.NodeReady && k.mu.shutdown.ends() {
			c = &of.unwell
		}
		all = append(all, corev1.NodeCondition{
			Type: of.is, Status: c.status, Reason: c.reason, Message: c.message, LastHeartbeatTime: at, LastTransitionTime: at,
		})
	}
	return all
}

// isOwnCondition reports whether a condition of a Node is in the words of its kubelet.
func isOwnCondition(c *corev1.NodeCondition) bool {
	i := slices.IndexFunc(nodeConditions, func(of nodeCondition) bool { return of.is == c.Type })
	return i >= 0 && (nodeConditions[i].well.isOf(c) || nodeConditions[i].unwell.isOf(c))
}

func (own *condition) isOf(c *corev1.NodeCondition) bool {
	return c.Status == own.status && c.Reason == own.reason && c.Message == own.message
}

// recordConditions writes an event for each condition that has changed: to well, or to unwell by the kubelet itself.
func (k *kubelet) recordConditions(n *corev1.Node, before []corev1.NodeCondition) {
	old := map[corev1.NodeConditionType]corev1.ConditionStatus{}
	for _, c := range before {
		old[c.Type] = c.Status
	}
	for _, c := range n.Status.Conditions {
		i := slices.IndexFunc(nodeConditions, func(of nodeCondition) bool { return of.is == c.Type })
		if i < 0 || c.Status == old[c.Type] {
			continue
		}
		switch of := &nodeConditions[i]; {
		case c.Status == of.well.status:
			k.recordNodeEvent(n, of.well.event)
		case c.Status == of.unwell.status && c.Reason == of.unwell.reason:
			k.recordNodeEvent(n, of.unwell.event)
		}
	}
}
