package controlplane_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
)

// preemptGroup schedules a group within a topology domain, and preempts it and violates its budget for another one.
func preemptGroup(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	g := &gangs{controlplanetest.Clientset(t, cp), t.Context(), cp.Config()}
	p := &player{gangs: g, T: t, classes: map[string]bool{}}
	for _, line := range [][]string{
		{"budget", "guarded", "2"},
		{"group", "low", "2", "prio=10", "topology=" + corev1.LabelHostname, "all"},
		{"pod", "low-0", "group=low", "prio=10", "cpu=12", "label=guarded"},
		{"pod", "low-1", "group=low", "prio=10", "cpu=12", "label=guarded"},
		{"scheduled", "low-0", "low-1"},
		{"group", "high", "1"},
		{"pod", "high-0", "group=high", "cpu=20"},
		{"scheduled", "high-0"},
	} {
		p.play(line[0], line[1:])
	}
	g.group(t, "high", metav1.ConditionTrue, "Scheduled")
}
