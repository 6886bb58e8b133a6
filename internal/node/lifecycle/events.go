package lifecycle

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/condition"
	"fairlead.dev/internal/node/stage"
)

// events collects the events of the step from one status of a pod to the next.
type events struct {
	pod           *corev1.Pod
	before, after *corev1.PodStatus
	all           bool   // see BuiltIn.AllEvents
	pulls         []pull // of the pod's images, before it has started
	ended         bool   // by an Ending
	actions       []stage.Action
}

func (e *events) add(kind, reason, format string, args ...any) {
	e.actions = append(e.actions, stage.Action{Event: &stage.Event{Type: kind, Reason: reason, Message: fmt.Sprintf(format, args...)}})
}

// containers adds the events of containers that have started or are killed.
func (e *events) containers() {
	started := !IsStarted(e.before) && IsStarted(e.after)
	killed := e.before.Phase == corev1.PodRunning && e.after.Phase != corev1.PodRunning &&
		(e.pod.DeletionTimestamp != nil || e.after.Reason == deadlineExceeded || e.ended)
	for i := range e.pod.Spec.Containers {
		c := &e.pod.Spec.Containers[i]
		if started && e.all {
			e.created(c.Image)
		}
		if started {
			e.add(corev1.EventTypeNormal, "Started", "Container started")
		}
		if killed {
			e.add(corev1.EventTypeNormal, "Killing", "Stopping container %s", c.Name)
		}
		if !e.all {
			return
		}
	}
}

func (e *events) created(image string) {
	if !slices.ContainsFunc(e.pulls, func(p pull) bool { return p.image == image }) {
		e.add(corev1.EventTypeNormal, "Pulled", "Container image %q already present on machine and can be accessed by the pod", image)
	}
	e.add(corev1.EventTypeNormal, "Created", "Container created")
}

// ephemeral adds an event for each ephemeral container that has started.
func (e *events) ephemeral() {
	for i := range e.after.EphemeralContainerStatuses {
		c := &e.after.EphemeralContainerStatuses[i]
		if ephemeralStatus(e.before, c.Name) != nil {
			continue
		}
		if e.all {
			e.created(c.Image)
		}
		e.add(corev1.EventTypeNormal, "Started", "Container started")
	}
}

// backOff adds an event for each container that waits for its restart, except for the first restart, which
// is immediate.
func (e *events) backOff() {
	tell := func(old, now []corev1.ContainerStatus) {
		for i := range now {
			if c := &now[i]; c.RestartCount > 0 && waitingReason(now, i) == crashLoop && waitingReason(old, i) != crashLoop {
				e.add(corev1.EventTypeWarning, "BackOff", "Back-off restarting failed container %s in pod %s_%s(%s)", c.Name, e.pod.Name, e.pod.Namespace, e.pod.UID)
			}
		}
	}
	tell(e.before.InitContainerStatuses, e.after.InitContainerStatuses)
	tell(e.before.ContainerStatuses, e.after.ContainerStatuses)
}

// configErrors adds an event for each container that has got a configuration error.
func (e *events) configErrors() {
	told := func(old []corev1.ContainerStatus, i int, message string) bool {
		return i < len(old) && old[i].State.Waiting != nil && old[i].State.Waiting.Message == message
	}
	tell := func(old, now []corev1.ContainerStatus) {
		for i := range now {
			if w := now[i].State.Waiting; w != nil && w.Reason == configError && !told(old, i, w.Message) {
				e.add(corev1.EventTypeWarning, "Failed", "Error: %s", w.Message)
			}
		}
	}
	tell(e.before.InitContainerStatuses, e.after.InitContainerStatuses)
	tell(e.before.ContainerStatuses, e.after.ContainerStatuses)
}

// assumption adds an event about a pod that will not end by itself although its containers might.
func (e *events) assumption() {
	if c := condition.OfPod(e.after, CommandsUnderstood); c != nil && c.Reason == commandNotUnderstood && condition.OfPod(e.before, CommandsUnderstood) == nil {
		e.add(corev1.EventTypeWarning, c.Reason, "%s", c.Message)
	}
}
