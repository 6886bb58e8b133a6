package dynamicresources

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/resourceclaim"
)

// findUser notes whether a claim is one of the pod's group.
func (a *attempt) findUser(c podClaim) error {
	if a.group == nil {
		return nil
	}
	user, err := resourceclaim.BindTo(a.pod, a.group, c.entry)
	if err == nil && user.UID == a.group.UID {
		a.ofGroup = append(a.ofGroup, c.UID)
	}
	return err
}

// user returns the pod or the group that a claim is reserved for.
func (a *attempt) user(c *resourcev1.ResourceClaim) resourcev1.ResourceClaimConsumerReference {
	if slices.Contains(a.ofGroup, c.UID) {
		return resourcev1.ResourceClaimConsumerReference{APIGroup: "scheduling.k8s.io", Resource: "podgroups", Name: a.group.Name, UID: a.group.UID}
	}
	return podUser(a.pod)
}

func podUser(pod *corev1.Pod) resourcev1.ResourceClaimConsumerReference {
	return resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: pod.Name, UID: pod.UID}
}
