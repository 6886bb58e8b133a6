package lifecycle

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/condition"
	"fairlead.dev/internal/node/admission"
	"fairlead.dev/internal/node/images"
)

// retryResize is the time between two attempts of a deferred resize.
const retryResize = 10 * time.Second

// resize gives running containers the resources of the pod's spec in two writes: first that they are allocated, or
// that the resize is deferred; then that they are in effect. A container whose resizePolicy demands it is
// restarted. It returns when to look again.
func resize(pod *corev1.Pod, s *corev1.PodStatus, sc scenario, now time.Time) (next time.Time) {
	if !admission.WantsResize(pod, s) {
		dropCondition(s, corev1.PodResizePending, corev1.PodResizeInProgress)
		return next
	}
	if !isResizing(pod) {
		if sc.admission.Reason != "" {
			setResize(pod, s, corev1.PodResizePending, corev1.PodReasonDeferred, sc.admission.Message, now)
			return now.Add(retryResize)
		}
		for spec, c := range admission.Containers(pod, s) {
			if c.Resources != nil {
				c.AllocatedResources = spec.Resources.Requests.DeepCopy()
			}
		}
		dropCondition(s, corev1.PodResizePending)
		setResize(pod, s, corev1.PodResizeInProgress, "", "", now)
		return now
	}
	for spec, c := range admission.Containers(pod, s) {
		if !admission.Differs(spec, c) {
			continue
		}
		if needsRestart(spec, c.Resources) {
			setTerminated(pod, spec, c, images.Exit{Code: killed}, c.State.Running.StartedAt, now)
			last := c.State
			*c = containerStatus(pod, spec, c.RestartCount+1)
			c.LastTerminationState = last
			setRunning(c, now)
		}
		c.Resources = spec.Resources.DeepCopy()
	}
	dropCondition(s, corev1.PodResizeInProgress)
	return next
}

// isResizing reports whether the resources of the pod's spec have been allocated.
func isResizing(pod *corev1.Pod) bool {
	began := condition.OfPod(&pod.Status, corev1.PodResizeInProgress)
	return began != nil && began.ObservedGeneration == pod.Generation
}

// needsRestart reports whether a change of resources restarts a container.
func needsRestart(spec *corev1.Container, old *corev1.ResourceRequirements) bool {
	for _, p := range spec.ResizePolicy {
		request, was := spec.Resources.Requests[p.ResourceName], old.Requests[p.ResourceName]
		limit, limited := spec.Resources.Limits[p.ResourceName], old.Limits[p.ResourceName]
		if p.RestartPolicy == corev1.RestartContainer && (request.Cmp(was) != 0 || limit.Cmp(limited) != 0) {
			return true
		}
	}
	return false
}

func dropCondition(s *corev1.PodStatus, types ...corev1.PodConditionType) {
	s.Conditions = slices.DeleteFunc(s.Conditions, func(c corev1.PodCondition) bool { return slices.Contains(types, c.Type) })
}

// setResize sets a condition of a resize.
func setResize(pod *corev1.Pod, s *corev1.PodStatus, t corev1.PodConditionType, reason, message string, now time.Time) {
	new := corev1.PodCondition{
		Type: t, Status: corev1.ConditionTrue, Reason: reason, Message: message, ObservedGeneration: pod.Generation,
		LastProbeTime: metav1.NewTime(now), LastTransitionTime: metav1.NewTime(now),
	}
	old := condition.OfPod(s, t)
	if old == nil {
		s.Conditions = append(s.Conditions, new)
	} else if old.Reason != reason || old.Message != message || old.ObservedGeneration != pod.Generation {
		new.LastTransitionTime = old.LastTransitionTime
		*old = new
	}
}
