package plugins

import (
	"math"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

// interPodScore favours nodes near the pods that the pod prefers, or that prefer it, and disfavours
// those near the pods of preferred anti-affinity.
type interPodScore struct {
	hardWeight     int64 // weight of an existing pod whose required affinity selects this one
	ignoreExisting bool  // existing pods' preferences do not count for a pod without preferences
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

// interPodScores adds the weight of each pod in the node's domain.
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
