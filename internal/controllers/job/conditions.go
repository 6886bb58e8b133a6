package job

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/condition"
)

func newCondition(t batchv1.JobConditionType, s corev1.ConditionStatus, reason, message string) *batchv1.JobCondition {
	now := metav1.Now()
	return &batchv1.JobCondition{Type: t, Status: s, LastProbeTime: now, LastTransitionTime: now, Reason: reason, Message: message}
}

func failing(reason, message string) *batchv1.JobCondition {
	return newCondition(batchv1.JobFailureTarget, corev1.ConditionTrue, reason, message)
}

// trueCondition returns the condition of a type if it is true, or nil.
func trueCondition(j *batchv1.Job, t batchv1.JobConditionType) *batchv1.JobCondition {
	return condition.Find(j.Status.Conditions, func(c *batchv1.JobCondition) bool { return c.Type == t && c.Status == corev1.ConditionTrue })
}

// ensure sets a condition and reports whether that changed anything. A false condition is not added.
func ensure(s *batchv1.JobStatus, t batchv1.JobConditionType, status corev1.ConditionStatus, reason, message string) bool {
	for i := range s.Conditions {
		if c := &s.Conditions[i]; c.Type == t {
			if c.Status == status && c.Reason == reason && c.Message == message {
				return false
			}
			*c = *newCondition(t, status, reason, message)
			return true
		}
	}
	if status == corev1.ConditionFalse {
		return false
	}
	s.Conditions = append(s.Conditions, *newCondition(t, status, reason, message))
	return true
}
