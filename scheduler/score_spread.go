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
	axes := c.axesOf(rules)
	// A node that lacks a key of the pod's own constraints gets nothing; the default
	// constraints take nodes without a zone as they are.
	counted := fit
	if own {
		r.required = axes
		counted = nil
		for _, n := range fit {
			if onAll(axes, n) {
				counted = append(counted, n)
			}
		}
	}
	for i, rule := range rules {
		r.parts = append(r.parts, c.spreadPart(p, rule, axes[i], r.required, counted, own))
	}
	return r
}

type spreadPart struct {
	*axis
	rule   *spreadRule
	tally  *tally
	byNode bool    // the key is the hostname, and the tally says it
	pods   []int64 // otherwise, by domain; nil: none count
	weight float64 // the more domains, the more one pod in one of them matters
}

// spreadPart is what p's rule r, over a, says of the nodes fit; pods count on nodes with
// the keys required.
func (c *Cluster) spreadPart(p *PodInfo, r *spreadRule, a *axis, required []*axis, fit []*NodeInfo, own bool) spreadPart {
	part := spreadPart{axis: a, rule: r, tally: c.tally(r.matcher)}
	if part.byNode = r.topologyKey == corev1.LabelHostname; part.byNode {
		part.weight = math.Log(float64(len(fit) + 2))
		return part
	}
	// How many domains the nodes that fit make up; those without the key make up one.
	domains, met := 0, make([]bool, len(a.nodes)+1)
	for _, n := range fit {
		if at := &met[a.of(n)+1]; !*at {
			*at = true
			domains++
		}
	}
	part.weight = math.Log(float64(domains + 2))
	switch {
	case r.selectsNone:
	case !own && p.nodes == nil || own && c.admitsAll(p, r, a, required):
		part.pods = c.domains(part.tally, r.topologyKey).live
	default:
		part.pods, _ = c.admitted(p, r, a, part.tally, required)
	}
	return part
}

type spreadRate struct {
	parts    []spreadPart
	required []*axis // whose keys a node must have to get anything
}

// ignoredPoints marks nodes that Normalize gives nothing.
const ignoredPoints = -1

func (s *spreadRate) Of(n *NodeInfo) int64 {
	if !onAll(s.required, n) {
		return ignoredPoints
	}
	var sum float64
	for i := range s.parts {
		part := &s.parts[i]
		v := part.of(n)
		if v == absent {
			continue
		}
		var k int64
		switch {
		case part.byNode:
			k = part.rule.countOn(part.tally, n)
		case part.pods != nil:
			k = part.pods[v]
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
