package plugins

import (
	"math"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

// Allocation scores nodes by their allocated share, including the pod: the least, the most, or
// along a curve (the scoring strategies of NodeResourcesFit).
type Allocation struct {
	Strategy  ScoringStrategy
	Resources []WeightedResource
	Shape     framework.Shape
}

type ScoringStrategy int

const (
	LeastAllocated ScoringStrategy = iota
	MostAllocated
	RequestedToCapacityRatio
)

type WeightedResource struct {
	Name   corev1.ResourceName
	Weight int64
}

var cpuAndMemory = []WeightedResource{{corev1.ResourceCPU, 1}, {corev1.ResourceMemory, 1}}

func (Allocation) Name() string { return "NodeResourcesFit" }
func (a Allocation) PreScore(_ *cache.Cluster, p *cache.PodInfo, _ []*cache.NodeInfo) framework.NodeScorer {
	// An extended resource that the pod does not request does not matter for its node.
	type count struct {
		cache.ResourceKey
		asked, weight int64
	}
	counted := make([]count, 0, len(a.Resources))
	for _, r := range a.Resources {
		if !isScalar(r.Name) || p.Requests.Get(r.Name) > 0 {
			counted = append(counted, count{cache.NewResourceKey(r.Name), p.NonZeroRequests.Get(r.Name), r.Weight})
		}
	}
	return framework.ScoreFunc(func(n *cache.NodeInfo) int64 {
		var sum, weights int64
		for i := range counted {
			r := &counted[i]
			has := n.Allocatable.Of(&r.ResourceKey)
			if has == 0 {
				continue
			}
			points := a.points(n.NonZeroRequested.Of(&r.ResourceKey)+r.asked, has)
			if points == 0 && a.Strategy == RequestedToCapacityRatio {
				continue
			}
			sum += points * r.weight
			weights += r.weight
		}
		switch {
		case weights == 0:
			return 0
		case a.Strategy == RequestedToCapacityRatio:
			return int64(math.Round(float64(sum) / float64(weights)))
		}
		return sum / weights
	})
}

// Allocated returns the allocated part of the resources of nodes together, in percent.
func (a Allocation) Allocated(nodes []*cache.NodeInfo) int64 {
	most := Allocation{Strategy: MostAllocated}
	var sum, weights int64
	for _, r := range a.Resources {
		key := cache.NewResourceKey(r.Name)
		var used, has int64
		for _, n := range nodes {
			used += n.NonZeroRequested.Of(&key)
			has += n.Allocatable.Of(&key)
		}
		if has > 0 {
			sum += most.points(used, has) * r.Weight
			weights += r.Weight
		}
	}
	return sum / max(weights, 1)
}

func (a Allocation) points(used, has int64) int64 {
	switch a.Strategy {
	case MostAllocated:
		return min(used, has) * 100 / has
	case RequestedToCapacityRatio:
		return a.Shape.At(min(used, has) * 100 / has)
	}
	return max(has-used, 0) * 100 / has
}

// isScalar reports whether only some nodes have the resource.
func isScalar(name corev1.ResourceName) bool {
	return name != corev1.ResourceCPU && name != corev1.ResourceMemory && name != corev1.ResourceEphemeralStorage
}

// balanced favours nodes on which the pod brings the used shares of resources closer together.
type balanced struct{ resources []WeightedResource }

func (balanced) Name() string { return "NodeResourcesBalancedAllocation" }
func (b balanced) PreScore(_ *cache.Cluster, p *cache.PodInfo, _ []*cache.NodeInfo) framework.NodeScorer {
	counted := make([]cache.ResourceKey, 0, len(b.resources))
	asks := false
	for _, r := range b.resources {
		asked := p.Requests.Get(r.Name)
		if !isScalar(r.Name) || asked > 0 {
			counted = append(counted, cache.NewResourceKey(r.Name))
		}
		asks = asks || asked > 0
	}
	if !asks {
		return nil
	}
	return framework.ScoreFunc(func(n *cache.NodeInfo) int64 {
		before := balance(n, counted, &cache.Resources{})
		after := balance(n, counted, &p.Requests)
		return 50 + (50+after-before)/2
	})
}

// balance returns 100 for a node whose resources are used to the same degree, after more has been
// added.
func balance(n *cache.NodeInfo, counted []cache.ResourceKey, more *cache.Resources) int64 {
	var shares [8]float64
	uses, sum := shares[:0], 0.0
	for i := range counted {
		r := &counted[i]
		if has := n.Allocatable.Of(r); has > 0 {
			share := min(1, float64(n.Requested.Of(r)+more.Of(r))/float64(has))
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
