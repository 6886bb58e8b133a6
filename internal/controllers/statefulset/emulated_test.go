package statefulset_test

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/version"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/internal/resource/gates"
)

// TestParallelBefore137 checks that Kubernetes 1.36, without MaxUnavailableStatefulSet, replaces one pod at a time, the
// highest first, also with parallel pods that are unavailable.
func TestParallelBefore137(t *testing.T) {
	of, err := gates.New(version.MustParse("1.36"))
	if err != nil {
		t.Fatal(err)
	}
	cp := controlplanetest.Start(t, controlplane.Options{Controllers: []string{"*"}, Scheduler: true, Nodes: 1, API: gates.API{Gates: of}})
	f := fixtureOf(t, controlplanetest.Client(t, cp))
	w := f.watch()
	two := intstr.FromInt32(2)
	f.create(set(3, func(s *appsv1.StatefulSet) {
		s.Spec.PodManagementPolicy = appsv1.ParallelPodManagement
		s.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{MaxUnavailable: &two} // dropped
		s.Spec.Template.Spec.NodeSelector = map[string]string{"no": "node"}
	}))
	f.steps(w, 3)
	f.patch(map[string]any{"template": map[string]any{"spec": map[string]any{"nodeSelector": nil}}})
	want := []string{"-db-2", "+db-2", "ready db-2", "-db-1", "+db-1", "ready db-1", "-db-0", "+db-0", "ready db-0"}
	if got := f.steps(w, len(want)); !slices.Equal(got, want) {
		t.Errorf("steps %v, want %v", got, want)
	}
	f.settled(3)
}
