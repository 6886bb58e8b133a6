package core

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/condition"
	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/podspec"
)

// gateCondition sets the PodScheduled condition of a gated pod.
func gateCondition(p *corev1.Pod) {
	if len(p.Spec.SchedulingGates) == 0 || condition.OfPod(&p.Status, corev1.PodScheduled) != nil {
		return
	}
	p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{
		Type:               corev1.PodScheduled,
		Status:             corev1.ConditionFalse,
		Reason:             corev1.PodReasonSchedulingGated,
		Message:            "Scheduling is blocked due to non-empty scheduling gates",
		LastTransitionTime: metav1.Now(),
	})
}

// mergeLabelKeys adds the matchLabelKeys of affinities and spread constraints to their selectors, with the values
// of the pod's own labels.
func mergeLabelKeys(p *corev1.Pod) {
	if a := p.Spec.Affinity; a != nil {
		if a.PodAffinity != nil {
			mergeTerms(p, a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
		}
		if a.PodAntiAffinity != nil {
			mergeTerms(p, a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
		}
	}
	for i := range p.Spec.TopologySpreadConstraints {
		c := &p.Spec.TopologySpreadConstraints[i]
		merge(p, c.LabelSelector, c.MatchLabelKeys, metav1.LabelSelectorOpIn)
	}
}

func mergeTerms(p *corev1.Pod, required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
	term := func(t *corev1.PodAffinityTerm) {
		merge(p, t.LabelSelector, t.MatchLabelKeys, metav1.LabelSelectorOpIn)
		merge(p, t.LabelSelector, t.MismatchLabelKeys, metav1.LabelSelectorOpNotIn)
	}
	for i := range required {
		term(&required[i])
	}
	for i := range preferred {
		term(&preferred[i].PodAffinityTerm)
	}
}

func merge(p *corev1.Pod, s *metav1.LabelSelector, keys []string, op metav1.LabelSelectorOperator) {
	if s == nil {
		return
	}
	for _, key := range keys {
		if value, ok := p.Labels[key]; ok {
			s.MatchExpressions = append(s.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: op, Values: []string{value}})
		}
	}
}

// prepareEphemeral restores everything except the ephemeral containers.
func prepareEphemeral(p, old *corev1.Pod) {
	ephemeral := p.Spec.EphemeralContainers
	keepPod(p, old)
	p.Spec.EphemeralContainers = ephemeral
	resource.SetGeneration(p, old, &p.Spec, &old.Spec)
}

// prepareResize restores everything except the resources of containers and pod. If the lists of containers differ,
// validation rejects them.
func prepareResize(p, old *corev1.Pod) {
	containers, okC := resized(p.Spec.Containers, old.Spec.Containers)
	inits, okI := resized(p.Spec.InitContainers, old.Spec.InitContainers)
	if okC && okI {
		whole := p.Spec.Resources
		keepPod(p, old)
		p.Spec.Containers, p.Spec.InitContainers, p.Spec.Resources = containers, inits, whole
		keepPodResources(p, old)
		podspec.CompletePodResources(&p.Spec)
	}
	resource.SetGeneration(p, old, &p.Spec, &old.Spec)
}

// keepPodResources restores pod-level resources that the client does not send, since it may not know them.
func keepPodResources(p, old *corev1.Pod) {
	if p.Spec.Resources == nil {
		p.Spec.Resources = old.Spec.Resources.DeepCopy()
	}
}

func resized(now, old []corev1.Container) ([]corev1.Container, bool) {
	if len(now) != len(old) {
		return nil, false
	}
	out := slices.Clone(old)
	for i := range now {
		if now[i].Name != old[i].Name {
			return nil, false
		}
		out[i].Resources, out[i].ResizePolicy = now[i].Resources, now[i].ResizePolicy
	}
	return out, true
}

func keepPod(p, old *corev1.Pod) {
	p.Spec, p.Status = *old.Spec.DeepCopy(), old.Status
	resource.RestoreMeta(p, old)
}
