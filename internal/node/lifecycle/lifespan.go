package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/node/shell"
)

// lifespan is how long a container runs and how it exits, if no probe ends it.
type lifespan struct {
	ends     bool
	runFor   time.Duration // if it ends
	exitCode int32
}

// lifespan returns the lifespan of a container: the one that annotations or the image declare, else the prediction
// of its command, else the assumption.
func (s *scenario) lifespan(pod *corev1.Pod, c *corev1.Container) lifespan {
	co := lifespan{ends: s.ends, runFor: s.runFor, exitCode: s.exitCode}
	if !s.endDeclared {
		co.ends = s.assumed(pod, c) == endsSoon
	}
	if s.endDeclared && s.codeDeclared || len(c.Command) == 0 {
		return co
	}
	known, ok := shell.Predict(pod, c, nil)
	if !ok {
		return co
	}
	if !s.endDeclared {
		co.ends, co.runFor = known.Runs != shell.Forever, known.Runs
	}
	if !s.codeDeclared {
		co.exitCode = known.ExitCode
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

// end returns when a running container exits, by itself or because a probe fails, and its exit code; zero if
// never.
func (s *scenario) end(pod *corev1.Pod, spec *corev1.Container, c *corev1.ContainerStatus) (at time.Time, code int32) {
	if c.State.Running == nil {
		return at, 0
	}
	began := c.State.Running.StartedAt
	co := s.lifespan(pod, spec)
	at, code = co.endsAt(began.Time), co.exitCode
	if after, ok := s.probes(spec).ends(); ok && (at.IsZero() || began.Add(after).Before(at)) {
		at, code = began.Add(after), killed
	}
	return at, code
}

// firstEnd returns when the first of the containers exits.
func (s *scenario) firstEnd(pod *corev1.Pod, status *corev1.PodStatus) (first time.Time) {
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
