package lifecycle

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// restarts reports whether the kubelet restarts a container that exited with a code: by the first matching one of
// its rules, else by its own restart policy, else by its pod's (KEP-5307). An init container that has succeeded is
// never restarted.
func restarts(pod *corev1.Pod, c *corev1.Container, exitCode int32) bool {
	if action(c, exitCode) != "" {
		return true
	}
	switch policy(pod, c) {
	case corev1.RestartPolicyNever:
		return false
	case corev1.RestartPolicyOnFailure:
		return exitCode != 0
	}
	return true
}

// action returns the action of the first rule of a container that matches an exit code; "" without one.
func action(c *corev1.Container, exitCode int32) corev1.ContainerRestartRuleAction {
	for i := range c.RestartPolicyRules {
		if r := &c.RestartPolicyRules[i]; matches(r.ExitCodes, exitCode) {
			return r.Action
		}
	}
	return ""
}

// policy returns the restart policy of a container.
func policy(pod *corev1.Pod, c *corev1.Container) corev1.RestartPolicy {
	if c.RestartPolicy != nil {
		return corev1.RestartPolicy(*c.RestartPolicy)
	}
	return pod.Spec.RestartPolicy
}

// matches reports whether a rule applies to an exit code.
func matches(on *corev1.ContainerRestartRuleOnExitCodes, code int32) bool {
	if on == nil {
		return false
	}
	in := slices.Contains(on.Values, code)
	return in == (on.Operator == corev1.ContainerRestartRuleOnExitCodesOpIn)
}

// BackOff is a kubelet's memory of the restarts of a pod's containers: the number of restarts that a container had when it
// last ran so long that its back-off began anew. The zero value is that of a kubelet that has just started.
type BackOff struct {
	since map[string]int32 // by container
}

// wait returns how long a container that has ended waits for its next restart: the first is at once, the second after ten
// seconds, and each further one after twice the time, up to a limit. It begins anew after a run of more than twice the limit.
func (s *scenario) wait(c *corev1.ContainerStatus, ended *corev1.ContainerStateTerminated) time.Duration {
	limit := s.restartPeriod
	if limit <= 0 {
		limit = 5 * time.Minute
	}
	if s.backOff != nil && ended.FinishedAt.Sub(ended.StartedAt.Time) > 2*limit {
		if s.backOff.since == nil {
			s.backOff.since = map[string]int32{}
		}
		s.backOff.since[c.Name] = c.RestartCount
	}
	n := c.RestartCount
	if s.backOff != nil {
		n -= s.backOff.since[c.Name]
	}
	if n <= 0 {
		return 0
	}
	d := min(10*time.Second, limit)
	for ; n > 1 && d < limit; n-- {
		d *= 2
	}
	return min(d, limit)
}
