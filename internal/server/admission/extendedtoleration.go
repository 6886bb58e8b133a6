package admission

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"fairlead.dev/internal/resource/check"
)

// ExtendedResourceToleration makes pods that request an extended resource, such as example.com/gpu, tolerate taints of
// its name.
type ExtendedResourceToleration struct{}

// Name implements Plugin.
func (ExtendedResourceToleration) Name() string { return "ExtendedResourceToleration" }

// Admit implements Mutator.
func (ExtendedResourceToleration) Admit(_ context.Context, r *Request) error {
	if !r.on(Create, core("pods")) && !r.on(Update, core("pods")) {
		return nil
	}
	pod := r.Object.(*corev1.Pod)
	names := map[corev1.ResourceName]bool{}
	for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for _, c := range list {
			for name := range c.Resources.Requests {
				if check.IsExtended(name) {
					names[name] = true
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		pod.Spec.Tolerations = withToleration(pod.Spec.Tolerations, corev1.Toleration{
			Key: string(name), Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule,
		})
	}
	return nil
}

// withToleration returns the list with t in place of the tolerations of the same taint, or else at its end.
func withToleration(list []corev1.Toleration, t corev1.Toleration) (all []corev1.Toleration) {
	placed := false
	for _, old := range list {
		switch {
		case !old.MatchToleration(&t):
			all = append(all, old)
		case equality.Semantic.DeepEqual(old, t):
			return list
		default:
			all = append(all, t)
			placed = true
		}
	}
	if !placed {
		all = append(all, t)
	}
	return all
}
