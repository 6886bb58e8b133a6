package plugins

import (
	"math"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

// taintScore favours nodes with few PreferNoSchedule taints that the pod does not
// tolerate.
type taintScore struct{}

func (taintScore) Name() string { return "TaintToleration" }
func (taintScore) PreScore(c *cache.Cluster, p *cache.PodInfo, _ []*cache.NodeInfo) framework.NodeScorer {
	if c.PreferNoScheduleNodes == 0 {
		return nil
	}
	return framework.ReversedScore(func(n *cache.NodeInfo) (k int64) {
		for i := range n.PreferNoScheduleTaints {
			if !tolerates(p.Pod.Spec.Tolerations, &n.PreferNoScheduleTaints[i]) {
				k++
			}
		}
		return k
	})
}

// nodeAffinityScore favours the nodes that the pod's preferred node affinity names.
type nodeAffinityScore struct {
	added []cache.PreferredSchedulingTerm // to those of every pod
}

func (nodeAffinityScore) Name() string { return "NodeAffinity" }
func (s nodeAffinityScore) PreScore(_ *cache.Cluster, p *cache.PodInfo, _ []*cache.NodeInfo) framework.NodeScorer {
	if len(p.PreferredNodeAffinity)+len(s.added) == 0 {
		return nil
	}
	return framework.NormalizedScore(func(n *cache.NodeInfo) (sum int64) {
		for i := range p.PreferredNodeAffinity {
			if p.PreferredNodeAffinity[i].Matches(n.Node) {
				sum += p.PreferredNodeAffinity[i].Weight
			}
		}
		for i := range s.added {
			if s.added[i].Matches(n.Node) {
				sum += s.added[i].Weight
			}
		}
		return sum
	})
}

// interPodScore favours nodes near the pods that the pod prefers, or that prefer it, and
// disfavours those near the pods it would rather avoid.
type interPodScore struct {
	hardWeight     int64 // what counts a pod that requires this one
	ignoreExisting bool  // a pod without preferences goes by nobody else's
}

func (interPodScore) Name() string { return "InterPodAffinity" }
func (s interPodScore) PreScore(c *cache.Cluster, p *cache.PodInfo, _ []*cache.NodeInfo) framework.NodeScorer {
	if s.ignoreExisting && len(p.PreferredAffinityTerms) == 0 {
		return nil
	}
	var r interPodScores
	for i := range p.PreferredAffinityTerms {
		rule := &p.PreferredAffinityTerms[i]
		if there := c.DomainCounts(c.Tally(rule.PodSelector), rule.TopologyKey); there.Total > 0 {
			r = append(r, weightedCounts{there, rule.Weight})
		}
	}
	if c.ExistingAffinityTerms() > 0 {
		c.EachExistingTerm(p, func(k *cache.ExistingTerm) {
			weight := k.Weight
			if k.Required {
				weight = s.hardWeight
			}
			if !k.AntiAffinity && weight != 0 {
				r = append(r, weightedCounts{c.ExistingTermCounts(k), weight})
			}
		})
	}
	if r == nil {
		return nil
	}
	return r
}

// interPodScores gives points for each pod in the node's domain.
type interPodScores []weightedCounts

type weightedCounts struct {
	*cache.DomainCounts
	weight int64
}

func (r interPodScores) Score(n *cache.NodeInfo) (sum int64) {
	for i := range r {
		if v := r[i].Domain(n); v != cache.NoDomain {
			sum += r[i].weight * r[i].All[v]
		}
	}
	return sum
}

func (interPodScores) NormalizeScores(points []int64) {
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for _, v := range points {
		low, high = min(low, v), max(high, v)
	}
	for i, v := range points {
		points[i] = 0
		if high > low {
			points[i] = 100 * (v - low) / (high - low)
		}
	}
}
