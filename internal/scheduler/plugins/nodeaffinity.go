package plugins

import (
	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

// nodeAffinity keeps pods on the nodes that their selector and required node affinity allow.
type nodeAffinity struct {
	added *cache.RequiredNodeAffinity // for every pod
}

func (nodeAffinity) Name() string { return "NodeAffinity" }

func (f nodeAffinity) PreFilter(_ *cache.Cluster, p *cache.PodInfo) (framework.FilterFunc, framework.Status) {
	if p.RequiredNodeAffinity == nil && f.added == nil {
		return nil, success
	}
	if names, narrowed := f.NodeNames(p); narrowed && len(names) == 0 {
		return nil, framework.Unresolvable("pod affinity terms conflict")
	}
	rejected := framework.Unresolvable("node(s) didn't match Pod's node affinity/selector")
	enforced := framework.Unresolvable("node(s) didn't match scheduler-enforced node affinity")
	return func(n *cache.NodeInfo) framework.Status {
		if !f.added.Matches(n.Node) {
			return enforced
		}
		if !p.RequiredNodeAffinity.Matches(n.Node) {
			return rejected
		}
		return success
	}, success
}

// NodeNames returns the nodes that the terms name.
func (nodeAffinity) NodeNames(p *cache.PodInfo) ([]string, bool) {
	if p.RequiredNodeAffinity == nil {
		return nil, false
	}
	return p.RequiredNodeAffinity.Names, p.RequiredNodeAffinity.ByName
}

func (nodeAffinity) EventsToRegister() framework.EventKind {
	return framework.NodeAdded | framework.NodeChanged
}

func (f nodeAffinity) QueueingHint(p *cache.PodInfo, e *framework.ClusterEvent) bool {
	return f.added.Matches(e.Node.Node) && p.RequiredNodeAffinity.Matches(e.Node.Node)
}

// nodeAffinityScore favours the nodes that the pod's preferred node affinity selects.
type nodeAffinityScore struct {
	added []cache.PreferredSchedulingTerm // for every pod
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
