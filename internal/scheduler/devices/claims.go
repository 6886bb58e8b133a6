package devices

import (
	"slices"
	"strconv"

	resourcev1 "k8s.io/api/resource/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// A claim is the newest known version of a ResourceClaim, and the allocation that is chosen for it.
type claim struct {
	object   *resourcev1.ResourceClaim
	inFlight *resourcev1.AllocationResult // nil: it is not in flight
	users    int                          // pods for which it is in flight
	trial    uint64                       // in which it was taken; see State.BeginTrial
	counts   *resourcev1.AllocationResult // the allocation that is taken
}

// Claim returns the newest version of a claim.
func (s *State) Claim(namespace, name string) (*resourcev1.ResourceClaim, bool) {
	if c := s.claims[types.NamespacedName{Namespace: namespace, Name: name}]; c != nil {
		return c.object, true
	}
	return nil, false
}

// ExtendedClaim returns the claim for a pod's extended resources that an earlier attempt has made, or nil.
func (s *State) ExtendedClaim(pod types.UID) *resourcev1.ResourceClaim {
	if key, ok := s.extended[pod]; ok {
		return s.claims[key].object
	}
	return nil
}

// SetClaim adds or replaces a claim, as the watch shows it or as it was written. An older version than the known one
// is ignored. It returns the version before, or nil, and whether it was replaced.
func (s *State) SetClaim(o *resourcev1.ResourceClaim) (before *resourcev1.ResourceClaim, replaced bool) {
	key := keyOf(o)
	c := s.claims[key]
	switch {
	case c == nil:
		c = &claim{}
		s.claims[key] = c
	case c.object.UID != o.UID && !isOlder(o, c.object):
		s.RemoveClaim(c.object)
		c = &claim{}
		s.claims[key] = c
	case !isOlder(c.object, o):
		return c.object, false
	}
	before, c.object = c.object, o
	if pod := extendedOwner(o); pod != "" {
		s.extended[pod] = key
		if o.Status.Allocation != nil {
			s.named(pod)
		}
	}
	s.recount(c)
	return before, true
}

// RemoveClaim removes a claim that was deleted. It reports whether the claim was the known one.
func (s *State) RemoveClaim(o *resourcev1.ResourceClaim) bool {
	key := keyOf(o)
	c := s.claims[key]
	if c == nil || c.object.UID != o.UID {
		return false
	}
	s.free(c.counts)
	delete(s.claims, key)
	if pod := extendedOwner(o); pod != "" && s.extended[pod] == key {
		delete(s.extended, pod)
	}
	return true
}

// BeginTrial starts an attempt to place the pods of a group, which share the allocations that are taken until EndTrial.
func (s *State) BeginTrial() {
	s.trials++
	s.trial = s.trials
}

// EndTrial ends the attempt. Allocations that it has taken stay in flight, but no further pod shares them.
func (s *State) EndTrial() { s.trial = 0 }

// Shared returns the allocation that an earlier pod of the group has taken for a claim in this trial; nil without any.
func (s *State) Shared(o *resourcev1.ResourceClaim) *resourcev1.AllocationResult {
	if c := s.claims[keyOf(o)]; c != nil && c.object.UID == o.UID && s.trial != 0 && c.trial == s.trial {
		return c.inFlight
	}
	return nil
}

// Reserve takes an allocation for a claim, which is in flight until Release has been called as often as Reserve.
func (s *State) Reserve(o *resourcev1.ResourceClaim, a *resourcev1.AllocationResult) {
	if c := s.claims[keyOf(o)]; c != nil && c.object.UID == o.UID {
		c.inFlight, c.trial = a, s.trial
		c.users++
		s.recount(c)
	}
}

// Release ends that an allocation is in flight for a pod, because it is written or will not be.
func (s *State) Release(o *resourcev1.ResourceClaim) {
	c := s.claims[keyOf(o)]
	if c == nil || c.object.UID != o.UID || c.inFlight == nil {
		return
	}
	if c.users--; c.users > 0 {
		return
	}
	c.inFlight = nil
	s.recount(c)
	if c.counts == nil && s.Freed != nil {
		s.Freed()
	}
}

// IsInFlight reports whether an allocation of a claim is in flight.
func (s *State) IsInFlight(o *resourcev1.ResourceClaim) bool {
	c := s.claims[keyOf(o)]
	return c != nil && c.object.UID == o.UID && c.inFlight != nil
}

// ReserveUnnamed takes an allocation for the extended resources of a pod, whose claim does not exist yet.
func (s *State) ReserveUnnamed(pod types.UID, a *resourcev1.AllocationResult) {
	s.unnamed[pod] = a
	s.take(a)
}

// ReleaseUnnamed reverts ReserveUnnamed, unless the claim is known already.
func (s *State) ReleaseUnnamed(pod types.UID) {
	if s.named(pod) && s.Freed != nil {
		s.Freed()
	}
}

// named ends that the allocation of an unnamed claim is in flight. It reports whether there was one.
func (s *State) named(pod types.UID) bool {
	a := s.unnamed[pod]
	s.free(a)
	delete(s.unnamed, pod)
	return a != nil
}

// recount takes the allocation that now is the newest of a claim, and frees the one before.
func (s *State) recount(c *claim) {
	now := c.object.Status.Allocation
	if now == nil {
		now = c.inFlight
	}
	if !takesSame(now, c.counts) {
		s.free(c.counts)
		s.take(now)
		c.counts = now
	}
}

// isSame reports whether two allocations are of the same devices for the same nodes.
func isSame(a, b *resourcev1.AllocationResult) bool {
	return takesSame(a, b) && apiequality.Semantic.DeepEqual(a.NodeSelector, b.NodeSelector)
}

// takesSame reports whether two allocations, which may be nil, take the same devices.
func takesSame(a, b *resourcev1.AllocationResult) bool {
	if a == nil || b == nil || a == b {
		return a == b
	}
	return slices.EqualFunc(a.Devices.Results, b.Devices.Results, func(x, y resourcev1.DeviceRequestAllocationResult) bool {
		return x.Driver == y.Driver && x.Pool == y.Pool && x.Device == y.Device && ptr.Equal(x.ShareID, y.ShareID) && ptr.Equal(x.AdminAccess, y.AdminAccess)
	})
}

// extendedOwner returns the UID of the pod for whose extended resources a claim was made; "" for any other claim.
func extendedOwner(o *resourcev1.ResourceClaim) types.UID {
	if o.Annotations[resourcev1.ExtendedResourceClaimAnnotation] != "true" {
		return ""
	}
	if ref := metav1.GetControllerOfNoCopy(o); ref != nil {
		return ref.UID
	}
	return ""
}

func keyOf(o *resourcev1.ResourceClaim) types.NamespacedName {
	return types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
}

// isOlder reports whether a was written before b.
func isOlder(a, b metav1.Object) bool {
	x, errX := strconv.ParseUint(a.GetResourceVersion(), 10, 64)
	y, errY := strconv.ParseUint(b.GetResourceVersion(), 10, 64)
	return errX == nil && errY == nil && x < y
}
