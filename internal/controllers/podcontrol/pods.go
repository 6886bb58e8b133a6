package podcontrol

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/condition"
)

// IsFinished reports whether the pod has reached a terminal phase.
func IsFinished(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// IsActive reports whether the pod counts as a replica: it is neither finished nor terminating.
func IsActive(p *corev1.Pod) bool {
	return !IsFinished(p) && p.DeletionTimestamp == nil
}

// IsTerminating reports whether the pod is terminating and not finished.
func IsTerminating(p *corev1.Pod) bool {
	return !IsFinished(p) && p.DeletionTimestamp != nil
}

// IsReady reports whether the pod's Ready condition is true.
func IsReady(p *corev1.Pod) bool {
	c := condition.OfPod(&p.Status, corev1.PodReady)
	return c != nil && c.Status == corev1.ConditionTrue
}

// ReadySince returns the time at which the pod last became ready, or the zero time if it is not ready.
func ReadySince(p *corev1.Pod) time.Time {
	if c := condition.OfPod(&p.Status, corev1.PodReady); c != nil && c.Status == corev1.ConditionTrue {
		return c.LastTransitionTime.Time
	}
	return time.Time{}
}

// AvailableIn gives how long the pod, if it stays ready, still has to wait
// until it has been ready for minReady: zero for a pod that is available now.
// ok is false for a pod that is not ready and so will not become available by
// waiting.
func AvailableIn(p *corev1.Pod, minReady time.Duration, now time.Time) (wait time.Duration, ok bool) {
	c := condition.OfPod(&p.Status, corev1.PodReady)
	if c == nil || c.Status != corev1.ConditionTrue {
		return 0, false
	}
	if minReady <= 0 {
		return 0, true
	}
	if c.LastTransitionTime.IsZero() {
		return minReady, true
	}
	return max(0, c.LastTransitionTime.Add(minReady).Sub(now)), true
}

// IsAvailable reports whether the pod has been ready for at least minReady.
func IsAvailable(p *corev1.Pod, minReady time.Duration, now time.Time) bool {
	wait, ok := AvailableIn(p, minReady, now)
	return ok && wait == 0
}
