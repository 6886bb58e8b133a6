package dynamicresources

import (
	"context"
	"math/rand/v2"

	resourcev1 "k8s.io/api/resource/v1"

	"fairlead.dev/internal/scheduler/cache"
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
		if of := &a.allocated[i]; isIdle(of.claim, p) && !of.isEverywhere(c) {
			idle = append(idle, of.claim)
		}
	}
	if len(idle) == 0 {
		return nil, ""
	}
	claim := idle[rand.IntN(len(idle))] // there is no better rule
	return func(ctx context.Context) error { return w.Deallocate(ctx, claim) }, "deallocation of ResourceClaim completed"
}

// isIdle reports whether a claim is reserved for no pod other than p.
func isIdle(claim *resourcev1.ResourceClaim, p *cache.PodInfo) bool {
	users := claim.Status.ReservedFor
	return len(users) == 0 || len(users) == 1 && users[0].UID == p.Pod.UID
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
