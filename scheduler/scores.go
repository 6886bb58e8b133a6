package scheduler

import "math"

// preferUntainted favours nodes with few PreferNoSchedule taints that the pod does not
// tolerate.
type preferUntainted struct{}

func (preferUntainted) Name() string { return "TaintToleration" }
func (preferUntainted) Prepare(c *Cluster, p *PodInfo, _ []*NodeInfo) Rate {
	if c.mild == 0 {
		return nil
	}
	return Fewer(func(n *NodeInfo) (k int64) {
		for i := range n.mild {
			if !tolerates(p.Pod.Spec.Tolerations, &n.mild[i]) {
				k++
			}
		}
		return k
	})
}

// preferNodes favours the nodes that the pod's preferred node affinity names.
type preferNodes struct {
	added []weightedNodeTerm // to those of every pod
}

func (preferNodes) Name() string { return "NodeAffinity" }
func (s preferNodes) Prepare(_ *Cluster, p *PodInfo, _ []*NodeInfo) Rate {
	if len(p.preferNodes)+len(s.added) == 0 {
		return nil
	}
	return More(func(n *NodeInfo) (sum int64) {
		for i := range p.preferNodes {
			if p.preferNodes[i].matches(n.Node) {
				sum += p.preferNodes[i].weight
			}
		}
		for i := range s.added {
			if s.added[i].matches(n.Node) {
				sum += s.added[i].weight
			}
		}
		return sum
	})
}

// preferPods favours nodes near the pods that the pod prefers, or that prefer it, and
// disfavours those near the pods it would rather avoid.
type preferPods struct {
	required int64 // what counts a pod that requires this one
	onlyOwn  bool  // a pod without preferences goes by nobody else's
}

func (preferPods) Name() string { return "InterPodAffinity" }
func (s preferPods) Prepare(c *Cluster, p *PodInfo, _ []*NodeInfo) Rate {
	if s.onlyOwn && len(p.preferPods) == 0 {
		return nil
	}
	var r nearness
	for i := range p.preferPods {
		rule := &p.preferPods[i]
		if there := c.domains(c.tally(rule.matcher), rule.topologyKey); there.pods > 0 {
			r = append(r, neighbours{there, rule.weight})
		}
	}
	if len(c.carriers.byKey) > c.carriers.forbidding {
		c.carriersFor(p, func(k *carrier) {
			weight := k.weight
			if k.required {
				weight = s.required
			}
			if !k.forbids && weight != 0 {
				r = append(r, neighbours{c.carried(k), weight})
			}
		})
	}
	if r == nil {
		return nil
	}
	return r
}

// nearness gives points for each pod in the node's domain.
type nearness []neighbours

type neighbours struct {
	*sums
	weight int64
}

func (r nearness) Of(n *NodeInfo) (sum int64) {
	for i := range r {
		if v := r[i].of(n); v != absent {
			sum += r[i].weight * r[i].all[v]
		}
	}
	return sum
}

func (nearness) Normalize(points []int64) {
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
