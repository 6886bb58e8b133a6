package scheduler

import "slices"

// plugin is what a name of kube-scheduler's stands for here: a filter, a score, or both.
type plugin struct {
	name   string
	weight int64 // by default, of the score
	filter func(*pluginArgs) Filter
	score  func(*pluginArgs) Score
}

// plugins are all there are, in the order in which kube-scheduler asks them.
var plugins = []plugin{
	{name: "NodeUnschedulable", filter: func(*pluginArgs) Filter { return nodeUnschedulable{} }},
	{name: "NodeName", filter: func(*pluginArgs) Filter { return nodeName{} }},
	{name: "TaintToleration", weight: 3,
		filter: func(*pluginArgs) Filter { return taintToleration{} },
		score:  func(*pluginArgs) Score { return preferUntainted{} }},
	{name: "NodeAffinity", weight: 2,
		filter: func(a *pluginArgs) Filter { return nodeAffinity{a.added} },
		score:  func(a *pluginArgs) Score { return preferNodes{a.addedPreferred} }},
	{name: "NodePorts", filter: func(*pluginArgs) Filter { return nodePorts{} }},
	{name: "NodeResourcesFit", weight: 1,
		filter: func(a *pluginArgs) Filter { return resourcesFit{a.ignored} },
		score:  func(a *pluginArgs) Score { return a.allocation }},
	{name: "VolumeRestrictions", filter: func(*pluginArgs) Filter { return volumeRestrictions{} }},
	{name: "NodeVolumeLimits", filter: func(*pluginArgs) Filter { return volumeLimits{} }},
	{name: "VolumeBinding", filter: func(a *pluginArgs) Filter { return volumeBinding{a.bindTimeout} }},
	{name: "VolumeZone", filter: func(*pluginArgs) Filter { return volumeZone{} }},
	{name: "PodTopologySpread", weight: 2,
		filter: func(a *pluginArgs) Filter { return topologySpread{a.spread} },
		score:  func(a *pluginArgs) Score { return spreadPods{a.spread} }},
	{name: "InterPodAffinity", weight: 2,
		filter: func(*pluginArgs) Filter { return interPodAffinity{} },
		score:  func(a *pluginArgs) Score { return preferPods{a.hardAffinityWeight, a.ignorePreferred} }},
	{name: "NodeResourcesBalancedAllocation", weight: 1, score: func(a *pluginArgs) Score { return balanced{a.balanced} }},
	{name: "ImageLocality", weight: 1, score: func(*pluginArgs) Score { return imageLocality{} }},
}

// elsewhere are plugins of kube-scheduler that are no filter and no score: what they do is
// part of the queue, of the binders or of preemption.
var elsewhere = []string{"SchedulingGates", "PrioritySort", "DefaultPreemption", "DefaultBinder"}

func pluginNamed(name string) *plugin {
	i := slices.IndexFunc(plugins, func(p plugin) bool { return p.name == name })
	if i < 0 {
		return nil
	}
	return &plugins[i]
}
