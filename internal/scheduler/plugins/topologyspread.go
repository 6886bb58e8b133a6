package plugins

import (
	"math"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

const spreadReason = "node(s) didn't match pod topology spread constraints"

// topologySpread spreads the pods that a DoNotSchedule constraint selects evenly over the domains
// of a topology key.
type topologySpread struct {
	defaults *SpreadDefaults
}

func (topologySpread) Name() string { return "PodTopologySpread" }

// spreadCount is the state of one constraint before the pod is placed.
type spreadCount struct {
	*cache.Topology
	pods []int64 // by domain
	room int64   // how many pods a domain may have before the pod is added
}

func (f topologySpread) PreFilter(c *cache.Cluster, p *cache.PodInfo) (framework.FilterFunc, framework.Status) {
	hard, _ := f.defaults.constraintsOf(c, p, true)
	if hard == nil {
		return nil, success
	}
	axes := axesOf(c, hard)
	counts := make([]spreadCount, len(hard))
	for i, r := range hard {
		counts[i] = newSpreadCount(c, p, r, axes[i], axes)
	}
	uneven, unlabeled := framework.Unschedulable(spreadReason), framework.Unresolvable(spreadReason+" (missing required label)")
	return func(n *cache.NodeInfo) framework.Status {
		for i := range counts {
			k := &counts[i]
			v := k.Domain(n)
			if v == cache.NoDomain {
				return unlabeled
			}
			if k.pods[v] > k.room {
				return uneven
			}
		}
		return success
	}, success
}

func axesOf(c *cache.Cluster, rules []*cache.SpreadConstraint) []*cache.Topology {
	axes := make([]*cache.Topology, len(rules))
	for i, r := range rules {
		axes[i] = c.Topology(r.TopologyKey)
	}
	return axes
}

// newSpreadCount counts the pods of r by the domains of a. Only nodes that have the keys of all
// constraints, and that r's inclusion policies admit, form a domain. If these are all nodes with
// r's key, the DomainCounts are ready.
func newSpreadCount(c *cache.Cluster, p *cache.PodInfo, r *cache.SpreadConstraint, a *cache.Topology, all []*cache.Topology) spreadCount {
	k := spreadCount{Topology: a, room: r.MaxSkew}
	t := c.Tally(r.PodSelector)
	n, least := 0, int64(math.MaxInt64) // number of domains, and the smallest number of pods in one
	if admitsAll(c, p, r, a, all) {
		k.pods = c.DomainCounts(t, r.TopologyKey).Live
		n = len(k.pods)
		for _, pods := range k.pods {
			least = min(least, pods)
		}
	} else {
		var counted []bool
		k.pods, counted = admitted(c, p, r, a, t, all)
		for v, pods := range k.pods {
			if counted[v] {
				least = min(least, pods)
				n++
			}
		}
	}
	switch {
	case r.SelectsNone:
		k.pods = make([]int64, a.Len())
	case n > 0 && n >= r.MinDomains:
		k.room += least
	}
	if r.SelectsLabels(p.Pod.Labels) {
		k.room--
	}
	return k
}

// admitted counts t's pods by the domains of a, on nodes that r admits and that have the keys of
// all constraints. domains are those with such a node.
func admitted(c *cache.Cluster, p *cache.PodInfo, r *cache.SpreadConstraint, a *cache.Topology, t *cache.Tally, all []*cache.Topology) (pods []int64, domains []bool) {
	pods, domains = make([]int64, a.Len()), make([]bool, a.Len())
	for _, n := range c.NodeInfos {
		if v := a.Domain(n); v != cache.NoDomain && cache.HasAllKeys(all, n) && admitsNode(r, p, n) {
			pods[v] += int64(t.LivePods(n))
			domains[v] = true
		}
	}
	return pods, domains
}

// admitsAll reports whether every node with r's key forms a domain for p.
func admitsAll(c *cache.Cluster, p *cache.PodInfo, r *cache.SpreadConstraint, a *cache.Topology, all []*cache.Topology) bool {
	if p.RequiredNodeAffinity != nil && !r.IgnoreNodeAffinity || r.HonorTaints {
		return false
	}
	for _, other := range all {
		if other != a && other.NumNodes() < c.Len() {
			return false
		}
	}
	return true
}

func countOn(r *cache.SpreadConstraint, t *cache.Tally, n *cache.NodeInfo) int64 {
	if r.SelectsNone {
		return 0
	}
	return int64(t.LivePods(n))
}

// admitsNode reports whether the pods of n count for p's constraint r.
func admitsNode(r *cache.SpreadConstraint, p *cache.PodInfo, n *cache.NodeInfo) bool {
	return (r.IgnoreNodeAffinity || p.RequiredNodeAffinity.Matches(n.Node)) &&
		(!r.HonorTaints || toleratesAll(p.Pod.Spec.Tolerations, n.NoScheduleTaints))
}

func (topologySpread) EventsToRegister() framework.EventKind {
	return framework.NodeAdded | framework.NodeChanged | framework.NodeRemoved | framework.PodAdded | framework.PodRemoved
}

func (f topologySpread) QueueingHint(p *cache.PodInfo, e *framework.ClusterEvent) bool {
	if e.Kind.Has(framework.NodeAdded | framework.NodeChanged | framework.NodeRemoved) {
		return true
	}
	if e.Pod.Pod.Namespace != p.Pod.Namespace {
		return false
	}
	if len(p.SpreadConstraints) == 0 && f.defaults.hasHard() {
		return true
	}
	for i := range p.SpreadConstraints {
		// Any constraint that counts the pod, or may have counted it under its old labels.
		if r := &p.SpreadConstraints[i]; r.DoNotSchedule && (e.Kind == framework.PodAdded || r.SelectsLabels(e.Pod.Pod.Labels)) {
			return true
		}
	}
	return false
}
