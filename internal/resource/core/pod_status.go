package core

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// summary is the part of a pod's row that concerns its containers.
type summary struct {
	restartCount
	ready, total int
	status       string
}

// summarize computes the Status column. It starts from the phase; a waiting or terminated container overrides it,
// the first one in the list last; an init container that has not succeeded overrides all, because the containers
// after it have not started.
func summarize(p *corev1.Pod) summary {
	s := summary{total: len(p.Spec.Containers), status: string(p.Status.Phase)}
	if p.Status.Reason != "" {
		s.status = p.Status.Reason
	}
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonSchedulingGated {
			s.status = corev1.PodReasonSchedulingGated
		}
	}
	beside := map[string]bool{} // sidecars
	for i := range p.Spec.InitContainers {
		if c := &p.Spec.InitContainers[i]; c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			beside[c.Name] = true
			s.total++
		}
	}
	besideRestarts, initializing := s.initContainers(p, beside)
	if !initializing || hasCondition(p, corev1.PodInitialized) {
		s.restartCount = besideRestarts
		s.containers(p)
	}
	switch {
	case p.DeletionTimestamp == nil:
	case p.Status.Reason == "NodeLost":
		s.status = "Unknown"
	case p.Status.Phase != corev1.PodFailed && p.Status.Phase != corev1.PodSucceeded:
		s.status = "Terminating"
	}
	return s
}

// initContainers visits the init containers up to the first unfinished one. It returns the restarts of sidecars.
func (s *summary) initContainers(p *corev1.Pod, beside map[string]bool) (stay restartCount, initializing bool) {
	for i := range p.Status.InitContainerStatuses {
		c := &p.Status.InitContainerStatuses[i]
		s.add(c)
		if beside[c.Name] {
			stay.add(c)
		}
		ended, waiting := c.State.Terminated, c.State.Waiting
		switch {
		case ended != nil && ended.ExitCode == 0:
			continue
		case beside[c.Name] && c.Started != nil && *c.Started:
			if c.Ready {
				s.ready++
			}
			continue
		case ended != nil:
			s.status = "Init:" + terminationReason(ended)
		case waiting != nil && waiting.Reason != "" && waiting.Reason != "PodInitializing":
			s.status = "Init:" + waiting.Reason
		default:
			s.status = fmt.Sprintf("Init:%d/%d", i, len(p.Spec.InitContainers))
		}
		return stay, true
	}
	return stay, false
}

func (s *summary) containers(p *corev1.Pod) {
	running, failure := false, ""
	for i := len(p.Status.ContainerStatuses) - 1; i >= 0; i-- {
		c := &p.Status.ContainerStatuses[i]
		s.add(c)
		switch ended, waiting := c.State.Terminated, c.State.Waiting; {
		case waiting != nil && waiting.Reason != "":
			s.status = waiting.Reason
		case ended != nil:
			s.status = terminationReason(ended)
			if ended.ExitCode != 0 {
				failure = s.status
			}
		case c.Ready && c.State.Running != nil:
			running = true
			s.ready++
		}
	}
	if s.status != "Completed" {
		return
	}
	// One container has completed, but others are running.
	switch {
	case running && hasCondition(p, corev1.PodReady):
		s.status = "Running"
	case failure != "":
		s.status = failure
	case running:
		s.status = "NotReady"
	}
}

func terminationReason(t *corev1.ContainerStateTerminated) string {
	switch {
	case t.Reason != "":
		return t.Reason
	case t.Signal != 0:
		return fmt.Sprintf("Signal:%d", t.Signal)
	}
	return fmt.Sprintf("ExitCode:%d", t.ExitCode)
}
