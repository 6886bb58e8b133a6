package node

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// recordEvents writes the events of the step from one version of a pod to the next.
func (k *kubelet) recordEvents(before, after *corev1.Pod) {
	if k.options.Events == NoEvents {
		return
	}
	k.recordProbes(before, after)
	recordConfigErrors(k, before, after)
	k.recordPulls(before, after)
	k.recordBackOff(before, after)
	started := !isStarted(&before.Status) && isStarted(&after.Status)
	k.recordAssumption(before, after)
	k.recordEphemeral(before, after)
	k.recordResize(before, after)
	if s := &after.Status; before.Status.Reason == "" && s.Reason == deadlineExceeded {
		k.recorder.Event(after, corev1.EventTypeNormal, s.Reason, "%s", s.Message)
	} else if message, ok := strings.CutPrefix(s.Message, rejection); ok && before.Status.Reason == "" {
		k.recorder.Event(after, corev1.EventTypeWarning, s.Reason, "%s", message)
	}
	killed := before.Status.Phase == corev1.PodRunning && after.Status.Phase != corev1.PodRunning &&
		(after.DeletionTimestamp != nil || after.Status.Reason == deadlineExceeded || after.Status.Reason == preempting)
	all := k.options.Events == AllEvents
	for i := range after.Spec.Containers {
		c := &after.Spec.Containers[i]
		if started && all {
			k.recorder.Event(after, corev1.EventTypeNormal, "Pulled", "Container image %q already present on machine and can be accessed by the pod", c.Image)
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

// recordEphemeral writes an event for each ephemeral container that has started.
func (k *kubelet) recordEphemeral(before, after *corev1.Pod) {
	for i := range after.Status.EphemeralContainerStatuses {
		c := &after.Status.EphemeralContainerStatuses[i]
		if ephemeralStatus(&before.Status, c.Name) != nil {
			continue
		}
		if k.options.Events == AllEvents {
			k.recorder.Event(after, corev1.EventTypeNormal, "Pulled", "Container image %q already present on machine and can be accessed by the pod", c.Image)
			k.recorder.Event(after, corev1.EventTypeNormal, "Created", "Container created")
		}
		k.recorder.Event(after, corev1.EventTypeNormal, "Started", "Container started")
	}
}

// recordBackOff writes an event for each container that waits for its restart, except for the first restart, which
// is immediate.
func (k *kubelet) recordBackOff(before, after *corev1.Pod) {
	tell := func(old, now []corev1.ContainerStatus) {
		for i := range now {
			if c := &now[i]; c.RestartCount > 0 && waitingReason(now, i) == crashLoop && waitingReason(old, i) != crashLoop {
				k.recorder.Event(after, corev1.EventTypeWarning, "BackOff", "Back-off restarting failed container %s in pod %s_%s(%s)", c.Name, after.Name, after.Namespace, after.UID)
			}
		}
	}
	tell(before.Status.InitContainerStatuses, after.Status.InitContainerStatuses)
	tell(before.Status.ContainerStatuses, after.Status.ContainerStatuses)
}

// recordConfigErrors writes an event for each container that has got a configuration error.
func recordConfigErrors(k *kubelet, before, after *corev1.Pod) {
	told := func(old []corev1.ContainerStatus, i int, message string) bool {
		return i < len(old) && old[i].State.Waiting != nil && old[i].State.Waiting.Message == message
	}
	tell := func(old, now []corev1.ContainerStatus) {
		for i := range now {
			if w := now[i].State.Waiting; w != nil && w.Reason == configError && !told(old, i, w.Message) {
				k.recorder.Event(after, corev1.EventTypeWarning, "Failed", "Error: %s", w.Message)
			}
		}
	}
	tell(before.Status.InitContainerStatuses, after.Status.InitContainerStatuses)
	tell(before.Status.ContainerStatuses, after.Status.ContainerStatuses)
}

// recordProbes writes an event for each probe that has failed.
func (k *kubelet) recordProbes(before, after *corev1.Pod) {
	sc := k.options.scenario(after)
	if sc.startup == nil && sc.readiness == nil && sc.liveness == nil {
		return
	}
	for i := range after.Spec.Containers {
		if i >= len(before.Status.ContainerStatuses) || i >= len(after.Status.ContainerStatuses) {
			return
		}
		old, now, p := &before.Status.ContainerStatuses[i], &after.Status.ContainerStatuses[i], sc.probes(&after.Spec.Containers[i])
		end := now.State.Terminated
		if end == nil {
			end = now.LastTerminationState.Terminated
		}
		switch {
		case old.State.Running != nil && now.State.Running != nil && old.Ready && !now.Ready && p.readiness != nil:
			k.recorder.Event(after, corev1.EventTypeWarning, "Unhealthy", "Readiness probe failed: simulated")
		case old.State.Running != nil && now.State.Running == nil && end != nil && end.ExitCode == killed && after.DeletionTimestamp == nil:
			kind := "Liveness"
			if _, ok := p.started(); !ok {
				kind = "Startup"
			}
			k.recorder.Event(after, corev1.EventTypeWarning, "Unhealthy", "%s probe failed: simulated", kind)
			k.recorder.Event(after, corev1.EventTypeNormal, "Killing", "Container %s failed %s probe, will be restarted", now.Name, strings.ToLower(kind))
		}
	}
}
