package admission

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// LimitPodHardAntiAffinityTopology rejects pods that are required to be away from others by more than a node.
type LimitPodHardAntiAffinityTopology struct{}

// Name implements Plugin.
func (LimitPodHardAntiAffinityTopology) Name() string { return "LimitPodHardAntiAffinityTopology" }

// Validate implements Validator.
func (LimitPodHardAntiAffinityTopology) Validate(_ context.Context, r *Request) error {
	if !r.on(Create, core("pods")) && !r.on(Update, core("pods")) {
		return nil
	}
	pod := r.Object.(*corev1.Pod)
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAntiAffinity == nil {
		return nil
	}
	for _, t := range pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		if t.TopologyKey != corev1.LabelHostname {
			return apierrors.NewForbidden(r.GroupResource(), pod.Name, fmt.Errorf(
				"affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey %v but only key %v is allowed", t.TopologyKey, corev1.LabelHostname))
		}
	}
	return nil
}
