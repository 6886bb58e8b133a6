package node

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// restarts reports whether the kubelet starts a container again that exited so: by the first of its rules
// that is for the exit code, else by its own restart policy, else by its pod's (KEP-5307). An init container that
// has succeeded never is.
func restarts(pod *corev1.Pod, c *corev1.Container, exitCode int32) bool {
	for i := range c.RestartPolicyRules {
		if r := &c.RestartPolicyRules[i]; matches(r.ExitCodes, exitCode) {
			return true // which is all that an action can be for this container
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

// policy is the restart policy that a container has.
func policy(pod *corev1.Pod, c *corev1.Container) corev1.RestartPolicy {
	if c.RestartPolicy != nil {
		return corev1.RestartPolicy(*c.RestartPolicy)
	}
	return pod.Spec.RestartPolicy
}

// matches reports whether a rule is for an exit code.
func matches(on *corev1.ContainerRestartRuleOnExitCodes, code int32) bool {
	if on == nil {
		return false
	}
	in := slices.Contains(on.Values, code)
	return in == (on.Operator == corev1.ContainerRestartRuleOnExitCodesOpIn)
}
