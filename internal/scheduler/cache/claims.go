package cache

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/dynamic-resource-allocation/resourceclaim"
)

// claimNames returns the claims that a pod mounts, including those of ephemeral volumes.
func claimNames(pod *corev1.Pod) (names []string) {
	for i := range pod.Spec.Volumes {
		switch v := &pod.Spec.Volumes[i]; {
		case v.PersistentVolumeClaim != nil:
			names = append(names, v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil:
			names = append(names, pod.Name+"-"+v.Name)
		}
	}
	return names
}

// resourceClaimNames returns the ResourceClaims of a pod.
func resourceClaimNames(pod *corev1.Pod) (names []string) {
	for i := range pod.Spec.ResourceClaims {
		if name, _, err := resourceclaim.Name(pod, &pod.Spec.ResourceClaims[i]); err == nil && name != nil {
			names = append(names, *name)
		}
	}
	return names
}
