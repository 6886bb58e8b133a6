package dependencies

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/resourceclaim"
)

// Claims returns why the ResourceClaims of a pod cannot be used yet, in a kubelet's words; "" if they can. With ofGroup they
// may be those of the pod's group.
func Claims(pod *corev1.Pod, find Find, ofGroup bool) string {
	for i := range pod.Spec.ResourceClaims {
		name, own, err := resourceclaim.Name(pod, &pod.Spec.ResourceClaims[i])
		if err == nil && name != nil {
			err = usable(pod, *name, own, find, ofGroup)
		}
		if err != nil {
			return err.Error()
		}
	}
	if extended := pod.Status.ExtendedResourceClaimStatus; extended != nil {
		if err := usable(pod, extended.ResourceClaimName, true, find, ofGroup); err != nil {
			return err.Error()
		}
	}
	return ""
}

// usable returns why a pod cannot use a claim.
func usable(pod *corev1.Pod, name string, own bool, find Find, ofGroup bool) error {
	obj, err := find(Key{ResourceClaim, pod.Namespace, name})
	if (err == NotFound{ResourceClaim, pod.Namespace, name}) {
		err = fmt.Errorf("resourceclaims.resource.k8s.io %q not found", name)
	}
	if err != nil {
		return fmt.Errorf("fetch ResourceClaim %s: %w", name, err)
	}
	c, _ := obj.(*resourcev1.ResourceClaim)
	if own {
		if err := resourceclaim.IsForPod(pod, c, ofGroup); err != nil {
			return err
		}
	}
	switch {
	case !resourceclaim.IsReservedForPod(pod, c, ofGroup):
		return fmt.Errorf("pod %s (%s) is not allowed to use ResourceClaim %s (%s)", pod.Name, pod.UID, name, c.UID)
	case c.Status.Allocation == nil:
		return fmt.Errorf("ResourceClaim %s is not allocated", name)
	}
	return nil
}
