package schedulerplugins

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	fwk "k8s.io/kube-scheduler/framework"

	"fairlead.dev/scheduler"
)

// nodeEvents returns the events that a change of a node is, as kube-scheduler names them.
func nodeEvents(old, node *corev1.Node) (all []fwk.ClusterEvent) {
	switch {
	case old == nil:
		return []fwk.ClusterEvent{event(fwk.Node, fwk.Add)}
	case node == nil:
		return []fwk.ClusterEvent{event(fwk.Node, fwk.Delete)}
	}
	for _, c := range []struct {
		changed bool
		action  fwk.ActionType
	}{
		{old.Spec.Unschedulable != node.Spec.Unschedulable || !apiequality.Semantic.DeepEqual(old.Spec.Taints, node.Spec.Taints), fwk.UpdateNodeTaint},
		{!apiequality.Semantic.DeepEqual(old.Status.Allocatable, node.Status.Allocatable), fwk.UpdateNodeAllocatable},
		{!maps.Equal(old.Labels, node.Labels), fwk.UpdateNodeLabel},
		{!maps.Equal(conditions(old), conditions(node)), fwk.UpdateNodeCondition},
		{!maps.Equal(old.Annotations, node.Annotations), fwk.UpdateNodeAnnotation},
		{!slices.Equal(old.Status.DeclaredFeatures, node.Status.DeclaredFeatures), fwk.UpdateNodeDeclaredFeature},
	} {
		if c.changed {
			all = append(all, event(fwk.Node, c.action))
		}
	}
	return all
}

func conditions(n *corev1.Node) map[corev1.NodeConditionType]corev1.ConditionStatus {
	of := map[corev1.NodeConditionType]corev1.ConditionStatus{}
	for _, c := range n.Status.Conditions {
		of[c.Type] = c.Status
	}
	return of
}

// podEvents returns the events that a change of a pod is. A pod that has ended counts as deleted.
func podEvents(old, pod *corev1.Pod) []fwk.ClusterEvent {
	if old != nil && ended(old) {
		old = nil
	}
	if pod != nil && ended(pod) {
		pod = nil
	}
	switch {
	case old == nil && pod == nil:
		return nil
	case old == nil:
		return []fwk.ClusterEvent{event(placed(pod), fwk.Add)}
	case pod == nil:
		return []fwk.ClusterEvent{event(placed(old), fwk.Delete)}
	case old.Spec.NodeName == "" && pod.Spec.NodeName != "":
		return []fwk.ClusterEvent{event(fwk.UnscheduledPod, fwk.Delete), event(fwk.AssignedPod, fwk.Add)}
	}
	var all []fwk.ClusterEvent
	for _, action := range podChanges(old, pod) {
		all = append(all, event(placed(pod), action))
		if pod.Spec.NodeName == "" {
			all = append(all, event(fwk.TargetPod, action))
		}
	}
	return all
}

func ended(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

func placed(p *corev1.Pod) fwk.EventResource {
	if p.Spec.NodeName != "" {
		return fwk.AssignedPod
	}
	return fwk.UnscheduledPod
}

func podChanges(old, pod *corev1.Pod) (all []fwk.ActionType) {
	before, after := scheduler.NewPodInfo(old).Requests, scheduler.NewPodInfo(pod).Requests
	for _, c := range []struct {
		changed bool
		action  fwk.ActionType
	}{
		{!maps.Equal(old.Labels, pod.Labels), fwk.UpdatePodLabel},
		{lower(&after, &before), fwk.UpdatePodScaleDown},
		{lower(&before, &after), fwk.UpdatePodScaleUp},
		{len(old.Spec.SchedulingGates) > 0 && len(pod.Spec.SchedulingGates) == 0, fwk.UpdatePodSchedulingGatesEliminated},
		{len(old.Spec.Tolerations) != len(pod.Spec.Tolerations), fwk.UpdatePodToleration},
		{!apiequality.Semantic.DeepEqual(old.Status.ResourceClaimStatuses, pod.Status.ResourceClaimStatuses), fwk.UpdatePodGeneratedResourceClaim},
	} {
		if c.changed {
			all = append(all, c.action)
		}
	}
	if len(all) == 0 && (pod.Spec.NodeName != "" || !sameButStatus(old, pod)) {
		all = append(all, fwk.Update)
	}
	return all
}

// sameButStatus reports whether only the status of a pod has changed, such as its condition by the scheduler itself.
func sameButStatus(old, pod *corev1.Pod) bool {
	return maps.Equal(old.Annotations, pod.Annotations) && old.DeletionTimestamp.Equal(pod.DeletionTimestamp) &&
		apiequality.Semantic.DeepEqual(old.OwnerReferences, pod.OwnerReferences) && apiequality.Semantic.DeepEqual(old.Spec, pod.Spec)
}

// lower reports whether an amount of a is lower than that of b.
func lower(a, b *scheduler.Resources) bool {
	if a.MilliCPU < b.MilliCPU || a.Memory < b.Memory || a.EphemeralStorage < b.EphemeralStorage {
		return true
	}
	for name, v := range b.Other {
		if a.Other[name] < v {
			return true
		}
	}
	return false
}
