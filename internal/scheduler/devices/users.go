package devices

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/types"
)

// HasGroupClaims reports whether pod groups may have claims.
func (s *State) HasGroupClaims() bool { return s.Group != nil }

// GroupOf returns the group of a pod, if groups may have claims; nil for a pod without one. It is an error if the group does
// not exist.
func (s *State) GroupOf(pod *corev1.Pod) (*schedulingv1beta1.PodGroup, error) {
	of := pod.Spec.SchedulingGroup
	if s.Group == nil || of == nil || of.PodGroupName == nil {
		return nil, nil
	}
	if g, ok := s.Group(pod.Namespace, *of.PodGroupName); ok {
		return g, nil
	}
	return nil, fmt.Errorf("podgroup.scheduling.k8s.io %q not found", *of.PodGroupName)
}

// IsIdle reports whether a claim is reserved for no user other than one, a pod or a pod group.
func IsIdle(c *resourcev1.ResourceClaim, user types.UID) bool {
	users := c.Status.ReservedFor
	return len(users) == 0 || len(users) == 1 && users[0].UID == user
}

// IsReservedFor reports whether a claim is reserved for a user.
func IsReservedFor(c *resourcev1.ResourceClaim, user types.UID) bool {
	return slices.ContainsFunc(c.Status.ReservedFor, func(r resourcev1.ResourceClaimConsumerReference) bool { return r.UID == user })
}
