package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/node/shell"
)

// preStop returns how long the preStop hook of a container runs: its sleep, or its command as far as that can be
// predicted. Requests and other commands take no time.
func preStop(pod *corev1.Pod, c *corev1.Container) time.Duration {
	if c.Lifecycle == nil || c.Lifecycle.PreStop == nil {
		return 0
	}
	switch h := c.Lifecycle.PreStop; {
	case h.Sleep != nil:
		return time.Duration(h.Sleep.Seconds) * time.Second
	case h.Exec != nil:
		hook := *c
		hook.Command, hook.Args = h.Exec.Command, nil
		p, _ := shell.Predict(pod, &hook, nil)
		return p.Runs
	}
	return 0
}

// stopTime returns how long a running container takes to end if it has that long: its preStop hook, and then what the
// pod declares.
func (s *scenario) stopTime(pod *corev1.Pod, c *corev1.Container) time.Duration {
	hook := preStop(pod, c)
	return hook + min(s.terminateAfter, shell.Forever-hook)
}

// podStopTime returns how long the containers of a pod take to end if they have that long. The hooks of all of them run at
// the same time, those of sidecars too.
func (s *scenario) podStopTime(pod *corev1.Pod, status *corev1.PodStatus) time.Duration {
	longest := s.terminateAfter
	add := func(specs []corev1.Container, list []corev1.ContainerStatus) {
		for i := range min(len(specs), len(list)) {
			if list[i].State.Running != nil {
				longest = max(longest, s.stopTime(pod, &specs[i]))
			}
		}
	}
	add(pod.Spec.InitContainers, status.InitContainerStatuses)
	add(pod.Spec.Containers, status.ContainerStatuses)
	return longest
}
