package pvcprotection

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/controller"
)

// boundClaims returns the keys of the pod's claims that are bound.
func (p *protector) boundClaims(pod *corev1.Pod) (keys []controller.Key) {
	for _, name := range claimsOf(pod) {
		if c, ok := p.claims.Store().Get(pod.Namespace, name); ok && c.Status.Phase == corev1.ClaimBound {
			keys = append(keys, controller.KeyOf(c))
		}
	}
	return keys
}

// track sets the condition Unused of a claim, and returns the claim.
func (p *protector) track(ctx context.Context, c *corev1.PersistentVolumeClaim) (*corev1.PersistentVolumeClaim, error) {
	used, err := p.usedBy(ctx, c, func(pod *corev1.Pod) bool { return refers(pod, c) })
	if err != nil {
		return nil, err
	}
	now := corev1.PersistentVolumeClaimCondition{
		Type: corev1.PersistentVolumeClaimUnused, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now(),
		Reason: "NoPodsUsingPVC", Message: "No pods are currently referencing this PVC",
	}
	if used {
		now.Status, now.Reason, now.Message = corev1.ConditionFalse, "PodUsingPVC", "A pod is currently referencing this PVC"
	}
	at := slices.IndexFunc(c.Status.Conditions, func(c corev1.PersistentVolumeClaimCondition) bool { return c.Type == now.Type })
	if at >= 0 && c.Status.Conditions[at].Status == now.Status {
		return c, nil
	}
	written := c.DeepCopy()
	if at < 0 {
		written.Status.Conditions = append(written.Status.Conditions, now)
	} else {
		written.Status.Conditions[at] = now
	}
	return p.claims.API.Namespace(c.Namespace).UpdateStatus(ctx, written)
}

// refers reports whether a pod refers to the claim and has not ended.
func refers(pod *corev1.Pod, c *corev1.PersistentVolumeClaim) bool {
	return !terminated(pod) && slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		switch {
		case v.PersistentVolumeClaim != nil:
			return v.PersistentVolumeClaim.ClaimName == c.Name
		case v.Ephemeral != nil:
			return ephemeralClaim(pod, &v) == c.Name && metav1.IsControlledBy(c, pod)
		}
		return false
	})
}

// terminated reports whether the pod has ended, or ends and no container of it runs.
func terminated(pod *corev1.Pod) bool {
	s := &pod.Status
	return s.Phase == corev1.PodFailed || s.Phase == corev1.PodSucceeded || pod.DeletionTimestamp != nil &&
		!slices.ContainsFunc(slices.Concat(s.InitContainerStatuses, s.ContainerStatuses, s.EphemeralContainerStatuses), func(c corev1.ContainerStatus) bool {
			return c.State.Terminated == nil && c.State.Waiting == nil
		})
}
