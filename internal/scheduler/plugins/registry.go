package plugins

import (
	"slices"

	"fairlead.dev/internal/scheduler/dynamicresources"
	"fairlead.dev/internal/scheduler/framework"
	"fairlead.dev/internal/scheduler/volumes"
)

// A Plugin is the filter, the score, or both, of a plugin of kube-scheduler.
type Plugin struct {
	Name   string
	Weight int64 // default weight of the score
	Filter func(*Args) framework.Filter
	Score  func(*Args) framework.Score
}

// All lists the plugins in the order of kube-scheduler.
var All = []Plugin{
	{Name: "NodeUnschedulable", Filter: func(*Args) framework.Filter { return nodeUnschedulable{} }},
	{Name: "NodeName", Filter: func(*Args) framework.Filter { return nodeName{} }},
	{Name: "TaintToleration", Weight: 3,
		Filter: func(*Args) framework.Filter { return taintToleration{} },
		Score:  func(*Args) framework.Score { return taintScore{} }},
	{Name: "NodeAffinity", Weight: 2,
		Filter: func(a *Args) framework.Filter { return nodeAffinity{a.AddedAffinity} },
		Score:  func(a *Args) framework.Score { return nodeAffinityScore{a.AddedPreferredAffinity} }},
	{Name: "NodePorts", Filter: func(*Args) framework.Filter { return nodePorts{} }},
	{Name: "NodeResourcesFit", Weight: 1,
		Filter: func(a *Args) framework.Filter { return resourcesFit{a.IgnoredResources} },
		Score:  func(a *Args) framework.Score { return a.Allocation }},
	{Name: "VolumeRestrictions", Filter: func(*Args) framework.Filter { return volumes.Restrictions{} }},
	{Name: "NodeVolumeLimits", Filter: func(*Args) framework.Filter { return volumes.Limits{} }},
	{Name: "VolumeBinding", Weight: 1,
		Filter: func(a *Args) framework.Filter { return volumes.Binding{Timeout: a.BindTimeout} },
		Score:  func(a *Args) framework.Score { return volumes.Score{Shape: a.StorageShape} }},
	{Name: "VolumeZone", Filter: func(*Args) framework.Filter { return volumes.Zone{} }},
	{Name: "PodTopologySpread", Weight: 2,
		Filter: func(a *Args) framework.Filter { return topologySpread{a.SpreadDefaults} },
		Score:  func(a *Args) framework.Score { return spreadScore{a.SpreadDefaults} }},
	{Name: "InterPodAffinity", Weight: 2,
		Filter: func(*Args) framework.Filter { return interPodAffinity{} },
		Score: func(a *Args) framework.Score {
			return interPodScore{a.HardPodAffinityWeight, a.IgnorePreferredTermsOfExistingPods}
		}},
	{Name: "DynamicResources", Weight: 2,
		Filter: func(a *Args) framework.Filter { return a.Devices },
		Score:  func(a *Args) framework.Score { return dynamicresources.Score{Plugin: a.Devices} }},
	{Name: "NodeResourcesBalancedAllocation", Weight: 1, Score: func(a *Args) framework.Score { return balanced{a.Balanced} }},
	{Name: "ImageLocality", Weight: 1, Score: func(*Args) framework.Score { return imageLocality{} }},
	{Name: "NodeDeclaredFeatures", Filter: func(*Args) framework.Filter { return declaredFeatures{} }},
}

// Mandatory returns the filters that no configuration turns off.
func Mandatory() []framework.Filter { return []framework.Filter{parseErrors{}, unsupported{}} }

// BuiltIn are plugins of kube-scheduler that are neither filter nor score: the queue, the binders
// and preemption do their work.
var BuiltIn = []string{"SchedulingGates", "PrioritySort", "DefaultPreemption", "DefaultBinder"}

func Find(name string) *Plugin {
	i := slices.IndexFunc(All, func(p Plugin) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &All[i]
}
