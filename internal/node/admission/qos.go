package admission

import corev1 "k8s.io/api/core/v1"

// QOSClass returns Guaranteed if every container limits CPU and memory to its requests, BestEffort if no container
// requests or limits either, and Burstable otherwise.
func QOSClass(pod *corev1.Pod) corev1.PodQOSClass {
	any, guaranteed := false, true
	check := func(r *corev1.ResourceRequirements) {
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			limit, request := r.Limits[name], r.Requests[name]
			if !limit.IsZero() || !request.IsZero() {
				any = true
			}
			if limit.IsZero() || !request.IsZero() && request.Cmp(limit) != 0 {
				guaranteed = false
			}
		}
	}
	if whole := pod.Spec.Resources; whole != nil {
		check(whole)
	} else {
		for i := range pod.Spec.Containers {
			check(&pod.Spec.Containers[i].Resources)
		}
		for i := range pod.Spec.InitContainers {
			check(&pod.Spec.InitContainers[i].Resources)
		}
	}
	switch {
	case !any:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}
