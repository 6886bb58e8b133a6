package scheduler

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// resourcesFit keeps a node's pods within what it can allocate.
type resourcesFit struct {
	ignored *ignoredResources // nil: none
}

// ignoredResources are extended resources that need not fit.
type ignoredResources struct {
	names, groups []string // of "group/resource"
}

func (i *ignoredResources) has(name corev1.ResourceName) bool {
	group, _, extended := strings.Cut(string(name), "/")
	if i == nil || !extended || strings.HasSuffix(group, "kubernetes.io") {
		return false
	}
	return slices.Contains(i.names, string(name)) || slices.Contains(i.groups, group)
}

func (resourcesFit) Name() string { return "NodeResourcesFit" }

func (f resourcesFit) Prepare(_ *Cluster, p *PodInfo) (Check, Verdict) {
	plain := len(p.Requests.Other) == 0
	return func(n *NodeInfo) Verdict {
		r, free := &p.Requests, &n.Allocatable
		if plain && len(n.pods) < n.MaxPods &&
			(r.MilliCPU == 0 || r.MilliCPU <= free.MilliCPU-n.Requested.MilliCPU) &&
			(r.Memory == 0 || r.Memory <= free.Memory-n.Requested.Memory) &&
			(r.EphemeralStorage == 0 || r.EphemeralStorage <= free.EphemeralStorage-n.Requested.EphemeralStorage) {
			return fits
		}
		return f.insufficient(p, n)
	}, fits
}

func (resourcesFit) Events() EventKind { return NodeAdded | NodeChanged | PodRemoved }
func (f resourcesFit) Helps(p *PodInfo, e *Event) bool {
	if e.Node.Node == nil {
		return false
	}
	for _, other := range e.Node.pods {
		if other.ghost {
			return true // p may come before that one
		}
	}
	return f.insufficient(p, e.Node).Fits()
}

// insufficient names every resource of which n has too little left for p.
func (f resourcesFit) insufficient(p *PodInfo, n *NodeInfo) (v Verdict) {
	if len(n.pods)+1 > n.MaxPods {
		v.Reasons = append(v.Reasons, "Too many pods")
	}
	check := func(name corev1.ResourceName, want int64) {
		if want > 0 && want > n.Allocatable.get(name)-n.Requested.get(name) {
			v.Reasons = append(v.Reasons, "Insufficient "+string(name))
			v.Final = v.Final || want > n.Allocatable.get(name)
		}
	}
	check(corev1.ResourceCPU, p.Requests.MilliCPU)
	check(corev1.ResourceMemory, p.Requests.Memory)
	check(corev1.ResourceEphemeralStorage, p.Requests.EphemeralStorage)
	if len(p.Requests.Other) > 0 {
		names := make([]corev1.ResourceName, 0, len(p.Requests.Other))
		for name := range p.Requests.Other {
			if !f.ignored.has(name) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			check(name, p.Requests.Other[name])
		}
	}
	return v
}
