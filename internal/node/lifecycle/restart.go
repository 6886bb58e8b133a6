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
	for i := range c.RestartPolicyRules {
		if r := &c.RestartPolicyRules[i]; matches(r.ExitCodes, exitCode) {
			return true // the only action that there is for one container
		}
	}
	switch policy(pod, c) {
	case corev1.RestartPolicyNever:
		return false
	case corev1.RestartPolicyOnFailure:
		return exitCode != 0
	}
	return true
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

// crashBackoff returns how long a container waits before its n-th restart; the first is at once.
func crashBackoff(n int32) time.Duration {
	if n <= 1 {
		return 0
	}
	d := 10 * time.Second
	for ; n > 2 && d < 5*time.Minute; n-- {
		d *= 2
	}
	return min(d, 5*time.Minute)
}
