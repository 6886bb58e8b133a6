package node

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/node/shell"
)

// course is how a container goes if no probe ends it.
type course struct {
	ends     bool
	runFor   time.Duration // if it ends
	exitCode int32
}

// course of a container: as annotations or the image say, else as its command does, if that is
// wholly understood, else as assumed.
func (s *script) course(pod *corev1.Pod, c *corev1.Container) course {
	co := course{ends: s.ends, runFor: s.runFor, exitCode: s.exitCode}
	if !s.endTold {
		co.ends = s.assumed(pod, c) == endsSoon
	}
	if s.endTold && s.codeTold || len(c.Command) == 0 {
		return co
	}
	known, ok := shell.Predict(pod, c, nil)
	if !ok {
		return co
	}
	if !s.endTold {
		co.ends, co.runFor = known.Runs != shell.Forever, known.Runs
	}
	if !s.codeTold {
		co.exitCode = known.ExitCode
	}
	return co
}

// onlyWaits says that a container runs what its image does by itself, and that this is known
// to do nothing for ever: Kubernetes' pause, and agnhost, which its tests use.
func onlyWaits(c *corev1.Container) bool {
	if len(c.Command) > 0 || len(c.Args) > 0 {
		return false
	}
	name, _, _ := strings.Cut(c.Image[strings.LastIndexByte(c.Image, '/')+1:], "@")
	name, _, _ = strings.Cut(name, ":")
	return name == "pause" || name == "agnhost"
}

// end is when a container that runs exits, by itself or because a probe fails, and with what
// code; zero if never.
func (s *script) end(pod *corev1.Pod, spec *corev1.Container, c *corev1.ContainerStatus) (at time.Time, code int32) {
	if c.State.Running == nil {
		return at, 0
	}
	began := c.State.Running.StartedAt
	co := s.course(pod, spec)
	at, code = co.endsAt(began.Time), co.exitCode
	if after, ok := s.probes(spec).ends(); ok && (at.IsZero() || began.Add(after).Before(at)) {
		at, code = began.Add(after), killed
	}
	return at, code
}

// firstEnd is when the first of the containers exits.
func (s *script) firstEnd(pod *corev1.Pod, status *corev1.PodStatus) (first time.Time) {
	for i := range status.ContainerStatuses {
		at, _ := s.end(pod, &pod.Spec.Containers[i], &status.ContainerStatuses[i])
		first = sooner(first, at)
	}
	return first
}

// lastWords is the message of a container that has exited with a code: the end of its log, if it
// wants to be understood so.
func lastWords(pod *corev1.Pod, c *corev1.Container, code int32) string {
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
	return text[max(0, len(text)-mostWords):]
}

// mostWords is how many bytes of a log make a message, at most.
const mostWords = 2048
