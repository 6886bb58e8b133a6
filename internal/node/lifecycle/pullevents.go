package lifecycle

import corev1 "k8s.io/api/core/v1"

// failedPulls adds events about images that could not be pulled.
func (e *events) failedPulls() {
	tell := func(specs []corev1.Container, old, now []corev1.ContainerStatus) {
		for i := range min(len(specs), len(now)) {
			reason := waitingReason(now, i)
			if reason == waitingReason(old, i) {
				continue
			}
			image := specs[i].Image
			switch reason {
			case pullError:
				e.add(corev1.EventTypeNormal, "Pulling", "Pulling image %q", image)
				e.add(corev1.EventTypeWarning, "Failed", "Failed to pull image %q: not found (simulated)", image)
				e.add(corev1.EventTypeWarning, "Failed", "Error: %s", pullError)
			case pullBackOff:
				e.add(corev1.EventTypeNormal, "BackOff", "Back-off pulling image %q", image)
				e.add(corev1.EventTypeWarning, "Failed", "Error: %s", pullBackOff)
			case neverPull, badName:
				of := map[string]string{neverPull: neverPull, badName: "InspectFailed"}[reason]
				e.add(corev1.EventTypeWarning, of, "%s", now[i].State.Waiting.Message)
				e.add(corev1.EventTypeWarning, "Failed", "Error: %s", reason)
			}
		}
	}
	tell(e.pod.Spec.InitContainers, e.before.InitContainerStatuses, e.after.InitContainerStatuses)
	tell(e.pod.Spec.Containers, e.before.ContainerStatuses, e.after.ContainerStatuses)
}
