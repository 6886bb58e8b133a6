package dynamicresources

import (
	"context"
	"math/rand/v2"

	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/dynamic-resource-allocation/resourceclaim"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/devices"
)

// PostFilter frees a claim that is not available on some node and that no other pod uses, so that it can be allocated
// elsewhere. It deletes the claim for extended resources of an earlier attempt.
func (pl Plugin) PostFilter(c *cache.Cluster, p *cache.PodInfo) (write func(context.Context) error, done string) {
	a, _ := pl.attempt(c, p)
	if a == nil || pl.NoPostFilter {
		return nil, ""
	}
	w := cache.DevicesOf(c).Writer
	if stale := a.stale; stale != nil {
		return func(ctx context.Context) error { return w.Delete(ctx, stale) }, "deletion of ResourceClaim completed"
	}
	var idle []*resourcev1.ResourceClaim
	for i := range a.allocated {
		if of := &a.allocated[i]; devices.IsIdle(of.claim, p.Pod.UID) && !of.isEverywhere(c) {
			idle = append(idle, of.claim)
		}
	}
	if len(idle) == 0 {
		return nil, ""
	}
	claim := idle[rand.IntN(len(idle))] // there is no better rule
	return func(ctx context.Context) error { return w.Deallocate(ctx, claim) }, "deallocation of ResourceClaim completed"
}

// PostFilterGroup frees a claim of a group that no other one uses and that is not available on some node. Without such a
// claim it ends one of the group's reservations.
func (pl Plugin) PostFilterGroup(c *cache.Cluster, g *schedulingv1beta1.PodGroup) (write func(context.Context) error, done string) {
	if pl.NoGroupPostFilter || !cache.DevicesOf(c).HasGroupClaims() {
		return nil, ""
	}
	w := cache.DevicesOf(c).Writer
	var idle, reserved []*resourcev1.ResourceClaim
	for _, claim := range reservedFor(cache.DevicesOf(c), g) {
		a := attempt{plugin: pl}
		if v := a.addAllocated(claim, nil); v.IsSuccess() && devices.IsIdle(claim, g.UID) && !a.allocated[0].isEverywhere(c) {
			idle = append(idle, claim)
		}
		reserved = append(reserved, claim)
	}
	switch {
	case len(idle) > 0:
		claim := idle[rand.IntN(len(idle))] // there is no better rule
		return func(ctx context.Context) error { return w.Deallocate(ctx, claim) }, "deallocation of PodGroup ResourceClaim completed"
	case len(reserved) > 0:
		return func(ctx context.Context) error { return w.Unreserve(ctx, g.UID, reserved[0]) }, "ResourceClaim unreserved for PodGroup"
	}
	return nil, ""
}

// reservedFor returns the claims of a group that are reserved for it.
func reservedFor(s *devices.State, g *schedulingv1beta1.PodGroup) (all []*resourcev1.ResourceClaim) {
	for i := range g.Spec.ResourceClaims {
		name, own, err := resourceclaim.NameFromPodGroup(g, &g.Spec.ResourceClaims[i])
		if err != nil || name == nil {
			continue
		}
		claim, ok := s.Claim(g.Namespace, *name)
		if ok && (!own || resourceclaim.IsForPodGroup(g, claim) == nil) && devices.IsReservedFor(claim, g.UID) {
			all = append(all, claim)
		}
	}
	return all
}

// isEverywhere reports whether the claim is available on all nodes.
func (of *allocatedClaim) isEverywhere(c *cache.Cluster) bool {
	for _, n := range c.NodeInfos {
		if !of.isAvailable(n.Node) {
			return false
		}
	}
	return true
}
