// Package condition finds conditions in the statuses of objects.
package condition

import corev1 "k8s.io/api/core/v1"

// Find returns the first condition for which is returns true, or nil. The result points into list.
func Find[C any](list []C, is func(*C) bool) *C {
	for i := range list {
		if is(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// OfPod returns the pod's condition of a type, or nil. The result points into the status.
func OfPod(s *corev1.PodStatus, t corev1.PodConditionType) *corev1.PodCondition {
	return Find(s.Conditions, func(c *corev1.PodCondition) bool { return c.Type == t })
}
