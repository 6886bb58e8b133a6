package dynamicresources

import (
	resourcev1 "k8s.io/api/resource/v1"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/devices"
	"fairlead.dev/internal/scheduler/framework"
)

// Score rates nodes by the alternatives of firstAvailable that a pod would get there.
type Score struct{ Plugin }

// PreScore returns nil if no claim has alternatives.
func (s Score) PreScore(c *cache.Cluster, p *cache.PodInfo, _ []*cache.NodeInfo) framework.NodeScorer {
	if len(p.Pod.Spec.ResourceClaims) == 0 {
		return nil
	}
	a, _ := s.attempt(c, p)
	if a == nil || !a.hasAlternatives() {
		return nil
	}
	var base int64 // of allocated claims
	for i := range a.allocated {
		claim := a.allocated[i].claim
		base += devices.Score([]*resourcev1.ResourceClaim{claim}, []resourcev1.AllocationResult{*claim.Status.Allocation})
	}
	return framework.NormalizedScore(func(n *cache.NodeInfo) int64 {
		request := a.requestOn(n)
		if request == nil {
			return 0
		}
		_, score, _ := request.Fits(n.Node)
		return base + score
	})
}

// hasAlternatives reports whether a claim that is to be allocated has a request with several alternatives.
func (a *attempt) hasAlternatives() bool {
	for _, claim := range a.pending {
		for i := range claim.Spec.Devices.Requests {
			if len(claim.Spec.Devices.Requests[i].FirstAvailable) > 0 {
				return true
			}
		}
	}
	return false
}
