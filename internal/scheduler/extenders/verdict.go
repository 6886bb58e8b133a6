package extenders

import (
	"maps"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

// Verdict is the answer of the extenders about a pod.
type Verdict struct {
	statuses map[string]framework.Status // of the nodes that they were asked about
	scores   map[string]int64
}

// Add adds the answer about further nodes.
func (v *Verdict) Add(more *Verdict) {
	if v.statuses == nil {
		*v = *more
		return
	}
	maps.Copy(v.statuses, more.statuses)
	maps.Copy(v.scores, more.scores)
}

// Plugin is the Filter and Score of the extenders.
type Plugin struct {
	// Verdict is about the pod that is being placed; nil: no extender is interested in it.
	Verdict *Verdict
	// Open lets nodes pass about which the extenders have not been asked.
	Open bool
}

// Name implements framework.Filter.
func (*Plugin) Name() string { return "Extenders" }

// notAsked is the reason against a feasible node about which the extenders have not been asked.
const notAsked = "node(s) were not among those that the extenders were asked about"

// PreFilter implements framework.Filter.
func (p *Plugin) PreFilter(*cache.Cluster, *cache.PodInfo) (framework.FilterFunc, framework.Status) {
	v := p.Verdict
	if v == nil {
		return nil, framework.Status{}
	}
	return func(n *cache.NodeInfo) framework.Status {
		status, asked := v.statuses[n.Name]
		if !asked && !p.Open {
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

// Stale reports whether a pod fits no node because the extenders have not been asked about the nodes that are feasible now.
func Stale(e *framework.FitError) bool { return e.Reasons[notAsked] > 0 }
