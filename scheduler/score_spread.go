package scheduler

import (
	"math"

	corev1 "k8s.io/api/core/v1"
)

// spreadPods favours nodes, and zones, with few pods of the same kind: those that the
// pod's own ScheduleAnyway constraints select, or, for a pod without any constraint, those
// of the same services and owner.
type spreadPods struct {
	defaults *spreadDefaults
}

func (spreadPods) Name() string { return "PodTopologySpread" }

func (s spreadPods) Prepare(c *Cluster, p *PodInfo, fit []*NodeInfo) Rate {
	rules, own := s.defaults.rules(c, p, false)
	if len(rules) == 0 {
		return nil
	}
	r := &spreadRate{}
	// A node that lacks a key of the pod's own constraints gets nothing; the default
	// constraints take nodes without a zone as they are.
	counted := fit
	if own {
		r.ignored = map[*NodeInfo]bool{}
		counted = nil
		for _, n := range fit {
			if hasKeys(n, rules) {
				counted = append(counted, n)
			} else {
				r.ignored[n] = true
			}
		}
	}
	for _, rule := range rules {
		r.parts = append(r.parts, c.spreadPart(p, rule, rules, counted, own))
	}
	return r
}

type spreadPart struct {
	rule     *spreadRule
	tally    *tally
	byNode   bool             // the key is the hostname, and the tally says it
	inDomain map[string]int64 // otherwise
	weight   float64          // the more domains, the more one pod in one of them matters
}

func (c *Cluster) spreadPart(p *PodInfo, r *spreadRule, rules []*spreadRule, fit []*NodeInfo, own bool) spreadPart {
	part := spreadPart{rule: r, tally: c.tally(r.matcher)}
	if part.byNode = r.topologyKey == corev1.LabelHostname; part.byNode {
		part.weight = math.Log(float64(len(fit) + 2))
		return part
	}
	// How many domains the nodes that fit make up.
	domains := map[string]struct{}{}
	for _, n := range fit {
		domains[n.Node.Labels[r.topologyKey]] = struct{}{}
	}
	part.weight = math.Log(float64(len(domains) + 2))
	if r.selectsNone {
		return part
	}
	if !own && p.nodes == nil || own && c.admitsAll(p, r, rules) {
		part.inDomain = c.domains(part.tally, r.topologyKey).live
		return part
	}
	part.inDomain = map[string]int64{}
	for _, n := range c.order {
		if r.admits(p, n) && (!own || hasKeys(n, rules)) {
			part.inDomain[n.Node.Labels[r.topologyKey]] += int64(part.tally.liveOn(n))
		}
	}
	return part
}

type spreadRate struct {
	parts   []spreadPart
	ignored map[*NodeInfo]bool
}

// ignoredPoints marks nodes that Normalize gives nothing.
const ignoredPoints = -1

func (s *spreadRate) Of(n *NodeInfo) int64 {
	if s.ignored[n] {
		return ignoredPoints
	}
	var sum float64
	for i := range s.parts {
		part := &s.parts[i]
		v, ok := n.Node.Labels[part.rule.topologyKey]
		if !ok {
			continue
		}
		k := part.inDomain[v]
		if part.byNode {
			k = part.rule.countOn(part.tally, n)
		}
		sum += float64(k)*part.weight + float64(part.rule.maxSkew-1)
	}
	return int64(math.Round(sum))
}

func (*spreadRate) Normalize(points []int64) {
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
