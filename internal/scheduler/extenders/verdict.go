package extenders

import (
	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

// Verdict is the answer of the extenders about a pod.
type Verdict struct {
	statuses map[string]framework.Status // of the nodes that they were asked about
	scores   map[string]int64
}

// Plugin is the Filter and Score of the extenders. It has the verdict about the pod that is being placed.
type Plugin struct{ Verdict *Verdict }

// Name implements framework.Filter.
func (*Plugin) Name() string { return "Extenders" }

// notAsked is the reason against a node that has become feasible after the extenders were asked.
const notAsked = "node(s) were not among those that the extenders were asked about"

// PreFilter implements framework.Filter.
func (p *Plugin) PreFilter(*cache.Cluster, *cache.PodInfo) (framework.FilterFunc, framework.Status) {
	v := p.Verdict
	if v == nil {
		return nil, framework.Status{}
	}
	return func(n *cache.NodeInfo) framework.Status {
		status, asked := v.statuses[n.Name]
		if !asked {
			return framework.Unresolvable(notAsked)
		}
		return status
	}, framework.Status{}
}

// EventsToRegister implements framework.Filter: an extender may have its reasons from anywhere.
func (*Plugin) EventsToRegister() framework.EventKind {
	return framework.NodeAdded | framework.NodeChanged | framework.NodeRemoved | framework.PodAdded | framework.PodRemoved |
		framework.VolumesChanged | framework.NamespaceChanged | framework.ResourceClaimChanged | framework.DevicesFreed |
		framework.ResourceSliceChanged | framework.DeviceClassChanged
}

// QueueingHint implements framework.Filter.
func (*Plugin) QueueingHint(*cache.PodInfo, *framework.ClusterEvent) bool { return true }

// PreScore implements framework.Score.
func (p *Plugin) PreScore(*cache.Cluster, *cache.PodInfo, []*cache.NodeInfo) framework.NodeScorer {
	v := p.Verdict
	if v == nil || len(v.scores) == 0 {
		return nil
	}
	return framework.ScoreFunc(func(n *cache.NodeInfo) int64 { return v.scores[n.Name] })
}

// Stale reports whether a pod fits no node because the extenders were asked too early: some nodes have become feasible after
// that.
func Stale(e *framework.FitError) bool { return e.Reasons[notAsked] > 0 }
