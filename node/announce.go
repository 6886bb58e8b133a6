package node

import (
	corev1 "k8s.io/api/core/v1"
)

// announce writes the events of the step from one version of a pod to the next.
func (k *kubelet) announce(before, after *corev1.Pod) {
	if k.options.Events == NoEvents {
		return
	}
	started := !isStarted(&before.Status) && isStarted(&after.Status)
	killed := after.DeletionTimestamp != nil && before.Status.Phase == corev1.PodRunning && after.Status.Phase != corev1.PodRunning
	all := k.options.Events == AllEvents
	for i := range after.Spec.Containers {
		c := &after.Spec.Containers[i]
		if started && all {
			k.recorder.Event(after, corev1.EventTypeNormal, "Pulled", "Container image %q already present on machine", c.Image)
			k.recorder.Event(after, corev1.EventTypeNormal, "Created", "Container created")
		}
		if started {
			k.recorder.Event(after, corev1.EventTypeNormal, "Started", "Container started")
		}
		if killed {
			k.recorder.Event(after, corev1.EventTypeNormal, "Killing", "Stopping container %s", c.Name)
		}
		if !all {
			return
		}
	}
}
