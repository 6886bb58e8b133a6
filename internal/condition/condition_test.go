package condition_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/condition"
)

func TestOfPod(t *testing.T) {
	s := corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled}, {Type: corev1.PodReady}}}
	if got := condition.OfPod(&s, corev1.PodReady); got != &s.Conditions[1] {
		t.Errorf("Ready is %v, want a pointer into the status", got)
	}
	if got := condition.OfPod(&s, corev1.PodInitialized); got != nil {
		t.Errorf("Initialized is %v, want nil", got)
	}
}
