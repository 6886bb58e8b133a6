package scheduler

import (
	"math"

	corev1 "k8s.io/api/core/v1"
)

// allocation favours nodes by how much of what they have is asked for, the pod included:
// as little as possible, as much as possible, or along a curve.
type allocation struct {
	strategy  strategy
	resources []weightedResource
	shape     []shapePoint // of the curve, by use
}

type strategy int

const (
	leastAllocated strategy = iota
	mostAllocated
	requestedToCapacity
)

type weightedResource struct {
	name   corev1.ResourceName
	weight int64
}

// shapePoint gives a score, of 0 to 100, to a use in percent.
type shapePoint struct{ use, score int64 }

var cpuAndMemory = []weightedResource{{corev1.ResourceCPU, 1}, {corev1.ResourceMemory, 1}}

func (allocation) Name() string { return "NodeResourcesFit" }
func (a allocation) Prepare(_ *Cluster, p *PodInfo, _ []*NodeInfo) Rate {
	// An extended resource that the pod does not ask for says nothing about where it should go.
	type count struct {
		amountOf
		asked, weight int64
	}
	counted := make([]count, 0, len(a.resources))
	for _, r := range a.resources {
		if !isScalar(r.name) || p.Requests.get(r.name) > 0 {
			counted = append(counted, count{resolve(r.name), p.Compared.get(r.name), r.weight})
		}
	}
	return Points(func(n *NodeInfo) int64 {
		var sum, weights int64
		for i := range counted {
			r := &counted[i]
			has := n.Allocatable.of(&r.amountOf)
			if has == 0 {
				continue
			}
			points := a.points(n.Compared.of(&r.amountOf)+r.asked, has)
			if points == 0 && a.strategy == requestedToCapacity {
				continue
			}
			sum += points * r.weight
			weights += r.weight
		}
		switch {
		case weights == 0:
			return 0
		case a.strategy == requestedToCapacity:
			return int64(math.Round(float64(sum) / float64(weights)))
		}
		return sum / weights
	})
}

func (a allocation) points(used, has int64) int64 {
	switch a.strategy {
	case mostAllocated:
		return min(used, has) * 100 / has
	case requestedToCapacity:
		return along(a.shape, min(used, has)*100/has)
	}
	return max(has-used, 0) * 100 / has
}

// along is the score at a use: on the straight line between the points beside it, and
// that of the first or last point beyond them.
func along(shape []shapePoint, use int64) int64 {
	for i, p := range shape {
		if use > p.use {
			continue
		}
		if i == 0 {
			return p.score
		}
		from := shape[i-1]
		return from.score + (p.score-from.score)*(use-from.use)/(p.use-from.use)
	}
	return shape[len(shape)-1].score
}

// isScalar says whether the resource is one that only some nodes have.
func isScalar(name corev1.ResourceName) bool {
	return name != corev1.ResourceCPU && name != corev1.ResourceMemory && name != corev1.ResourceEphemeralStorage
}

// balanced favours nodes whose shares of resources in use come closer together by taking
// the pod.
type balanced struct{ resources []weightedResource }

func (balanced) Name() string { return "NodeResourcesBalancedAllocation" }
func (b balanced) Prepare(_ *Cluster, p *PodInfo, _ []*NodeInfo) Rate {
	counted := make([]amountOf, 0, len(b.resources))
	asks := false
	for _, r := range b.resources {
		asked := p.Requests.get(r.name)
		if !isScalar(r.name) || asked > 0 {
			counted = append(counted, resolve(r.name))
		}
		asks = asks || asked > 0
	}
	if !asks {
		return nil
	}
	return Points(func(n *NodeInfo) int64 {
		before := balance(n, counted, &Resources{})
		after := balance(n, counted, &p.Requests)
		return 50 + (50+after-before)/2
	})
}

// balance is 100 for a node whose resources are in use to the same degree, with this
// much more used.
func balance(n *NodeInfo, counted []amountOf, more *Resources) int64 {
	var shares [8]float64
	uses, sum := shares[:0], 0.0
	for i := range counted {
		r := &counted[i]
		if has := n.Allocatable.of(r); has > 0 {
			share := min(1, float64(n.Requested.of(r)+more.of(r))/float64(has))
			uses, sum = append(uses, share), sum+share
		}
	}
	deviation := 0.0
	switch {
	case len(uses) == 2:
		deviation = math.Abs((uses[0] - uses[1]) / 2)
	case len(uses) > 2:
		mean, squares := sum/float64(len(uses)), 0.0
		for _, share := range uses {
			squares += (share - mean) * (share - mean)
		}
		deviation = math.Sqrt(squares / float64(len(uses)))
	}
	return int64((1 - deviation) * 100)
}
