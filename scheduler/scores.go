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
	return smaller(func(n *NodeInfo) (k int64) {
		for i := range n.mild {
			if !tolerates(p.Pod.Spec.Tolerations, &n.mild[i]) {
				k++
			}
		}
		return k
	})
}

// preferNodes favours the nodes that the pod's preferred node affinity names.
type preferNodes struct{}

func (preferNodes) Name() string { return "NodeAffinity" }
func (preferNodes) Prepare(_ *Cluster, p *PodInfo, _ []*NodeInfo) Rate {
	if len(p.preferNodes) == 0 {
		return nil
	}
	return larger(func(n *NodeInfo) (sum int64) {
		for i := range p.preferNodes {
			if p.preferNodes[i].matches(n.Node) {
				sum += p.preferNodes[i].weight
			}
		}
		return sum
	})
}

// leastAllocated favours nodes with much CPU and memory left, as a share of what they have.
type leastAllocated struct{}

func (leastAllocated) Name() string { return "NodeResourcesFit" }
func (leastAllocated) Prepare(_ *Cluster, p *PodInfo, _ []*NodeInfo) Rate {
	return rate(func(n *NodeInfo) int64 {
		var sum, kinds int64
		if has := n.Allocatable.MilliCPU; has > 0 {
			sum += left(n.Compared.MilliCPU+p.Compared.MilliCPU, has)
			kinds++
		}
		if has := n.Allocatable.Memory; has > 0 {
			sum += left(n.Compared.Memory+p.Compared.Memory, has)
			kinds++
		}
		if kinds == 0 {
			return 0
		}
		return sum / kinds
	})
}

func left(used, has int64) int64 {
	if used > has {
		return 0
	}
	return (has - used) * 100 / has
}

// balanced favours nodes whose shares of CPU and memory in use come closer together by
// taking the pod.
type balanced struct{}

func (balanced) Name() string { return "NodeResourcesBalancedAllocation" }
func (balanced) Prepare(_ *Cluster, p *PodInfo, _ []*NodeInfo) Rate {
	if p.Requests.MilliCPU == 0 && p.Requests.Memory == 0 {
		return nil
	}
	return rate(func(n *NodeInfo) int64 {
		before := balance(n, 0, 0)
		after := balance(n, p.Requests.MilliCPU, p.Requests.Memory)
		return 50 + (50+after-before)/2
	})
}

// balance is 100 for a node whose CPU and memory are in use to the same degree, with
// this much more used.
func balance(n *NodeInfo, cpu, memory int64) int64 {
	if n.Allocatable.MilliCPU == 0 || n.Allocatable.Memory == 0 {
		return 100
	}
	a := min(1, float64(n.Requested.MilliCPU+cpu)/float64(n.Allocatable.MilliCPU))
	b := min(1, float64(n.Requested.Memory+memory)/float64(n.Allocatable.Memory))
	return int64((1 - math.Abs(a-b)/2) * 100)
}

// preferPods favours nodes near the pods that the pod prefers, or that prefer it, and
// disfavours those near the pods it would rather avoid.
type preferPods struct{}

func (preferPods) Name() string { return "InterPodAffinity" }
func (preferPods) Prepare(c *Cluster, p *PodInfo, _ []*NodeInfo) Rate {
	var r nearness
	for i := range p.preferPods {
		rule := &p.preferPods[i]
		if pods := c.domains(c.tally(rule.matcher), rule.topologyKey).all; len(pods) > 0 {
			r = append(r, neighbours{rule.topologyKey, rule.weight, pods})
		}
	}
	if len(c.carriers.byKey) > c.carriers.forbidding {
		c.carriersFor(p, func(k *carrier) {
			if !k.forbids {
				r = append(r, neighbours{k.topologyKey, k.weight, c.carried(k)})
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
	topologyKey string
	weight      int64
	pods        map[string]int64 // by domain
}

func (r nearness) Of(n *NodeInfo) (sum int64) {
	for i := range r {
		if v, ok := n.Node.Labels[r[i].topologyKey]; ok {
			sum += r[i].weight * r[i].pods[v]
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
