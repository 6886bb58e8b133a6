package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/node/admission"
	"fairlead.dev/internal/node/images"
)

// create sets all containers to waiting, before they are created.
func create(pod *corev1.Pod, s *corev1.PodStatus) {
	reason := "ContainerCreating"
	if len(pod.Spec.InitContainers) > 0 {
		reason = "PodInitializing"
	}
	waiting := func(cs []corev1.Container) []corev1.ContainerStatus {
		out := make([]corev1.ContainerStatus, len(cs))
		for i := range cs {
			out[i] = corev1.ContainerStatus{
				Name: cs[i].Name, Image: cs[i].Image, Started: ptr.To(false),
				State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}},
			}
		}
		return out
	}
	s.ContainerStatuses = waiting(pod.Spec.Containers)
	if len(pod.Spec.InitContainers) > 0 {
		s.InitContainerStatuses = waiting(pod.Spec.InitContainers)
	}
}

// startContainers runs the init containers and, when they have completed, starts the containers up to the first that
// has a configuration error. It returns when to look again if more is to be done, and whether the pod has failed
// because an init container has.
func startContainers(pod *corev1.Pod, s *corev1.PodStatus, sc scenario, now time.Time) (next time.Time, failed bool) {
	before, main, anew := s.InitContainerStatuses, s.ContainerStatuses, isRestarting(s)
	create(pod, s)
	if anew {
		copy(s.ContainerStatuses, main)
	}
	for i := range min(len(before), len(s.InitContainerStatuses)) {
		if c := &before[i]; c.State.Waiting == nil || c.LastTerminationState.Terminated != nil {
			s.InitContainerStatuses[i] = *c
		}
	}
	if done, next, failed := initialize(pod, s, before, sc, now); !done {
		return next, failed
	}
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		if !showConfigError(&s.ContainerStatuses[i], waitingReason(main, i), c, sc) {
			last := s.ContainerStatuses[i].LastTerminationState
			s.ContainerStatuses[i] = containerStatus(pod, c, s.ContainerStatuses[i].RestartCount)
			s.ContainerStatuses[i].LastTerminationState = last
			setRunning(&s.ContainerStatuses[i], now)
		}
	}
	if anew {
		setRestarting(pod, s, false, now)
	}
	return sc.firstEnd(pod, s), false
}

// proceed ends the containers whose time has come, and restarts ended ones as their policy has it. It returns when
// to look again.
func proceed(pod *corev1.Pod, s *corev1.PodStatus, sc scenario, now, ends time.Time) (next time.Time) {
	at := func(t time.Time) {
		if next.IsZero() || t.Before(next) {
			next = t
		}
	}
	if again := sc.proceedSidecars(pod, s, now); !again.IsZero() {
		at(again)
	}
	for i := range s.ContainerStatuses {
		c := &s.ContainerStatuses[i]
		switch {
		case c.State.Running != nil:
			end, exit := sc.end(pod, &pod.Spec.Containers[i], c)
			if early := ends.Sub(end); !ends.IsZero() && !sc.probed(pod) && early >= 0 && early < time.Second { // otherwise it is the end of another container
				end = ends
			}
			if end.IsZero() || now.Before(end) {
				if !end.IsZero() {
					at(end)
				}
				continue
			}
			setTerminated(pod, &pod.Spec.Containers[i], c, exit, c.State.Running.StartedAt, now)
			if action(&pod.Spec.Containers[i], exit.Code) == corev1.ContainerRestartRuleActionRestartAllContainers {
				restartAll(pod, s, c, now)
				return now
			}
			if !restarts(pod, &pod.Spec.Containers[i], exit.Code) {
				continue
			}
			at(sc.putOff(pod, c, now))
		case c.State.Waiting != nil && c.LastTerminationState.Terminated != nil:
			again := c.LastTerminationState.Terminated.FinishedAt.Add(sc.wait(c, c.LastTerminationState.Terminated))
			if now.Before(again) {
				at(again)
				continue
			}
			if showConfigError(c, c.State.Waiting.Reason, &pod.Spec.Containers[i], sc) {
				continue
			}
			old := *c
			*c = containerStatus(pod, &pod.Spec.Containers[i], c.RestartCount+1)
			c.LastTerminationState = old.LastTerminationState
			if old.Resources != nil { // a resize may have been put off
				c.Resources, c.AllocatedResources = old.Resources, old.AllocatedResources
			}
			setRunning(c, now)
			if end, _ := sc.end(pod, &pod.Spec.Containers[i], c); !end.IsZero() {
				at(end)
			}
		case c.State.Waiting != nil && !showConfigError(c, c.State.Waiting.Reason, &pod.Spec.Containers[i], sc): // its configuration error is gone
			*c = containerStatus(pod, &pod.Spec.Containers[i], 0)
			setRunning(c, now)
			if end, _ := sc.end(pod, &pod.Spec.Containers[i], c); !end.IsZero() {
				at(end)
			}
		}
	}
	return next
}

// terminateContainers ends the running containers.
func terminateContainers(pod *corev1.Pod, s *corev1.PodStatus, code int32, now time.Time) {
	end := func(spec *corev1.Container, c *corev1.ContainerStatus) {
		switch {
		case c.State.Running != nil:
			setTerminated(pod, spec, c, images.Exit{Code: code}, c.State.Running.StartedAt, now)
		case c.State.Waiting != nil && c.LastTerminationState.Terminated != nil:
			c.State, c.LastTerminationState = c.LastTerminationState, corev1.ContainerState{}
		}
	}
	for i := range min(len(s.InitContainerStatuses), len(pod.Spec.InitContainers)) {
		end(&pod.Spec.InitContainers[i], &s.InitContainerStatuses[i])
	}
	for i := range min(len(s.ContainerStatuses), len(pod.Spec.Containers)) {
		end(&pod.Spec.Containers[i], &s.ContainerStatuses[i])
	}
	for i := range s.EphemeralContainerStatuses {
		end(ephemeralSpec(pod, s.EphemeralContainerStatuses[i].Name), &s.EphemeralContainerStatuses[i])
	}
}

// setReadiness sets whether running containers, sidecars included, have started and are ready. It returns when that
// changes.
func setReadiness(pod *corev1.Pod, s *corev1.PodStatus, sc scenario, now time.Time) (next time.Time) {
	for i := range s.ContainerStatuses {
		if c := &s.ContainerStatuses[i]; c.State.Running != nil {
			var at time.Time
			c.Started, c.Ready, at = sc.lookAt(pod, &pod.Spec.Containers[i], c, now)
			next = Earlier(next, at)
		}
	}
	for i := range min(len(s.InitContainerStatuses), len(pod.Spec.InitContainers)) {
		if c, spec := &s.InitContainerStatuses[i], &pod.Spec.InitContainers[i]; admission.IsSidecar(spec) && c.State.Running != nil {
			var at time.Time
			c.Started, c.Ready, at = sc.lookAt(pod, spec, c, now)
			next = Earlier(next, at)
		}
	}
	return next
}
