package podspec

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
)

// QOSClass returns a pod's QoS class: Guaranteed if every container has CPU and memory limits and equal requests,
// BestEffort if no container has any requests or limits.
func QOSClass(p *corev1.Pod) corev1.PodQOSClass {
	requests, limits := corev1.ResourceList{}, corev1.ResourceList{}
	guaranteed := true
	if r := p.Spec.Resources; resourcehelper.IsPodLevelResourcesSet(p) {
		addCompute(requests, r.Requests)
		guaranteed = addCompute(limits, r.Limits) == 2 || len(r.Limits) == 0
	} else {
		for _, c := range slices.Concat(p.Spec.Containers, p.Spec.InitContainers) {
			addCompute(requests, c.Resources.Requests)
			if addCompute(limits, c.Resources.Limits) != 2 {
				guaranteed = false
			}
		}
	}
	if len(requests) == 0 && len(limits) == 0 {
		return corev1.PodQOSBestEffort
	}
	for name, amount := range requests {
		if limit, ok := limits[name]; !ok || limit.Cmp(amount) != 0 {
			guaranteed = false
		}
	}
	if guaranteed && len(requests) == len(limits) {
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

// addCompute adds the CPU and memory quantities of a list, and returns how many of the two it has.
func addCompute(to, list corev1.ResourceList) int {
	n := 0
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		amount, ok := list[name]
		if !ok || amount.Sign() != 1 {
			continue
		}
		n++
		have, ok := to[name]
		if !ok {
			have = resource.Quantity{Format: amount.Format}
		}
		have.Add(amount)
		to[name] = have
	}
	return n
}
