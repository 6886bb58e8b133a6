package plugins

import (
	"math"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

// spreadScore favours nodes and zones with few similar pods: those that the pod's own
// ScheduleAnyway constraints select or, for a pod without constraints, those of the same services
// and owner.
type spreadScore struct {
	defaults *SpreadDefaults
}

func (spreadScore) Name() string { return "PodTopologySpread" }

func (s spreadScore) PreScore(c *cache.Cluster, p *cache.PodInfo, fit []*cache.NodeInfo) framework.NodeScorer {
	rules, own := s.defaults.constraintsOf(c, p, false)
	if len(rules) == 0 {
		return nil
	}
	r := &spreadScores{}
	axes := axesOf(c, rules)
	// A node without a key of the pod's own constraints scores 0; the default constraints allow
	// nodes without a zone.
	counted := fit
	if own {
		r.required = axes
		counted = nil
		for _, n := range fit {
			if cache.HasAllKeys(axes, n) {
				counted = append(counted, n)
			}
		}
	}
	for i, rule := range rules {
		r.parts = append(r.parts, newSpreadPart(c, p, rule, axes[i], r.required, counted, own))
	}
	return r
}

type spreadScorePart struct {
	*cache.Topology
	rule   *cache.SpreadConstraint
	tally  *cache.Tally
	byNode bool    // the key is the hostname, and the tally has the counts
	pods   []int64 // otherwise, by domain; nil: no pods count
	weight float64 // grows with the number of domains
}

// newSpreadPart prepares p's constraint r over the domains of a for the feasible nodes fit. Pods
// count on nodes that have the required keys.
func newSpreadPart(c *cache.Cluster, p *cache.PodInfo, r *cache.SpreadConstraint, a *cache.Topology, required []*cache.Topology, fit []*cache.NodeInfo, own bool) spreadScorePart {
	part := spreadScorePart{Topology: a, rule: r, tally: c.Tally(r.PodSelector)}
	if part.byNode = r.TopologyKey == corev1.LabelHostname; part.byNode {
		part.weight = math.Log(float64(len(fit) + 2))
		return part
	}
	// The number of domains of the feasible nodes; those without the key make up one.
	domains, met := 0, make([]bool, a.Len()+1)
	for _, n := range fit {
		if at := &met[a.Domain(n)+1]; !*at {
			*at = true
			domains++
		}
	}
	part.weight = math.Log(float64(domains + 2))
	switch {
	case r.SelectsNone:
	case !own && p.RequiredNodeAffinity == nil || own && admitsAll(c, p, r, a, required):
		part.pods = c.DomainCounts(part.tally, r.TopologyKey).Live
	default:
		part.pods, _ = admitted(c, p, r, a, part.tally, required)
	}
	return part
}

type spreadScores struct {
	parts    []spreadScorePart
	required []*cache.Topology // a node without these keys scores 0
}

// ignoredPoints marks nodes that NormalizeScores sets to 0.
const ignoredPoints = -1

func (s *spreadScores) Score(n *cache.NodeInfo) int64 {
	if !cache.HasAllKeys(s.required, n) {
		return ignoredPoints
	}
	var sum float64
	for i := range s.parts {
		part := &s.parts[i]
		v := part.Domain(n)
		if v == cache.NoDomain {
			continue
		}
		var k int64
		switch {
		case part.byNode:
			k = countOn(part.rule, part.tally, n)
		case part.pods != nil:
			k = part.pods[v]
		}
		sum += float64(k)*part.weight + float64(part.rule.MaxSkew-1)
	}
	return int64(math.Round(sum))
}

func (*spreadScores) NormalizeScores(points []int64) {
	low, high := int64(math.MaxInt64), int64(0)
	for _, v := range points {
		if v != ignoredPoints {
			low, high = min(low, v), max(high, v)
		}
	}
	for i, v := range points {
		switch {
		case v == ignoredPoints:
			points[i] = 0
		case high == 0:
			points[i] = 100
		default:
			points[i] = 100 * (high + low - v) / high
		}
	}
}
