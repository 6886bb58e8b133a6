package admission

import (
	"context"

	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
)

// PodGroupProtection adds the finalizer that keeps a pod group while pods refer to it. The controller podgroupprotection
// removes it; without that controller a deleted group stays.
type PodGroupProtection struct{}

// Name implements Plugin.
func (PodGroupProtection) Name() string { return "PodGroupProtection" }

// Admit implements Mutator.
func (PodGroupProtection) Admit(_ context.Context, r *Request) error {
	if r.on(Create, podGroups) {
		g := r.Object.(*schedulingv1beta1.PodGroup)
		g.Finalizers = withFinalizer(g.Finalizers, "scheduling.k8s.io/podgroup-protection")
	}
	return nil
}
