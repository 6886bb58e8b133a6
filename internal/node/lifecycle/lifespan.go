package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/node/admission"
	"fairlead.dev/internal/node/images"
	"fairlead.dev/internal/node/shell"
)

// lifespan is how long a container runs and how it exits, if no probe ends it.
type lifespan struct {
	ends   bool
	runFor time.Duration // if it ends
	exit   images.Exit
}

// lifespan returns the lifespan of a container after a number of restarts, which the limit of its memory may end.
func (s *scenario) lifespan(pod *corev1.Pod, c *corev1.Container, restarts int32) lifespan {
	co := s.declared(pod, c, restarts)
	limit, limited := c.Resources.Limits[corev1.ResourceMemory]
	if !limited || s.exceeds == nil || limit.IsZero() {
		return co
	}
	if after, ok := s.exceeds(pod, c, limit); ok && (!co.ends || after < co.runFor) {
		co = lifespan{ends: true, runFor: after, exit: images.Exit{Code: killed, Reason: "OOMKilled"}}
	}
	return co
}

// declared returns the lifespan that annotations declare, else that of the container's image, else the prediction of its
// command, else the assumption.
func (s *scenario) declared(pod *corev1.Pod, c *corev1.Container, restarts int32) lifespan {
	if admission.IsSidecar(c) { // annotations are about the other containers
		s = &scenario{images: s.images}
	}
	co := lifespan{ends: s.ends, runFor: s.runFor, exit: images.Exit{Code: s.exitCode}}
	endDeclared, exitDeclared := s.endDeclared, s.codeDeclared
	if !endDeclared {
		co.ends = s.assumed(pod, c) == endsSoon
	}
	if b := s.images.Of(c.Image); b != nil {
		run := images.Run{Pod: pod.UID, Container: c.Name, Restarts: restarts}
		if !endDeclared && b.RunTime != nil {
			co.runFor, co.ends = b.RunFor(run)
			endDeclared = true
		}
		if !exitDeclared && len(b.Exits) > 0 {
			co.exit, exitDeclared = b.Exit(run), true
		}
	}
	if endDeclared && exitDeclared || len(c.Command) == 0 {
		return co
	}
	known, ok := shell.Predict(pod, c, nil)
	if !ok {
		return co
	}
	if !endDeclared {
		co.ends, co.runFor = known.Runs != shell.Forever, known.Runs
	}
	if !exitDeclared {
		co.exit.Code = known.ExitCode
	}
	return co
}

// endsAt returns when a container that started at that time exits; zero if never.
func (co lifespan) endsAt(began time.Time) (end time.Time) {
	if co.ends {
		end = began.Add(co.runFor)
	}
	return end
}

// end returns when a running container exits, by itself or because a probe fails, and how; the time is zero if it never does.
func (s *scenario) end(pod *corev1.Pod, spec *corev1.Container, c *corev1.ContainerStatus) (at time.Time, exit images.Exit) {
	if c.State.Running == nil {
		return at, exit
	}
	began := c.State.Running.StartedAt
	co := s.lifespan(pod, spec, c.RestartCount)
	at, exit = co.endsAt(began.Time), co.exit
	if after, grace, ok := s.probes(pod, spec).kill(GracePeriod(pod)); ok {
		if end := began.Add(after + min(s.stopTime(pod, spec), grace)); at.IsZero() || end.Before(at) {
			at, exit = end, images.Exit{Code: killed}
		}
	}
	return at, exit
}

// firstEnd returns when the first of the containers exits, sidecars included.
func (s *scenario) firstEnd(pod *corev1.Pod, status *corev1.PodStatus) (first time.Time) {
	for i := range min(len(status.InitContainerStatuses), len(pod.Spec.InitContainers)) {
		at, _ := s.end(pod, &pod.Spec.InitContainers[i], &status.InitContainerStatuses[i])
		first = Earlier(first, at)
	}
	for i := range status.ContainerStatuses {
		at, _ := s.end(pod, &pod.Spec.Containers[i], &status.ContainerStatuses[i])
		first = Earlier(first, at)
	}
	return first
}

// terminationMessage returns the message of a container that has exited: the end of its log, if its policy is
// FallbackToLogsOnError.
func terminationMessage(pod *corev1.Pod, c *corev1.Container, code int32) string {
	if code == 0 || c == nil || c.TerminationMessagePolicy != corev1.TerminationMessageFallbackToLogsOnError {
		return ""
	}
	p, ok := shell.Predict(pod, c, nil)
	if !ok || p.Vague {
		return ""
	}
	text := ""
	for _, o := range p.Output {
		text += o.Text
	}
	return text[max(0, len(text)-maxTerminationMessage):]
}

// maxTerminationMessage is the length in bytes of a message that is taken from a log.
const maxTerminationMessage = 2048
