package plugins

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

// resourcesFit keeps the requests on a node within its allocatable resources.
type resourcesFit struct {
	ignored *IgnoredResources // may be nil
}

// IgnoredResources are extended resources that need not fit.
type IgnoredResources struct {
	Names, Groups []string // of "group/resource"
}

func (i *IgnoredResources) has(name corev1.ResourceName) bool {
	group, _, extended := strings.Cut(string(name), "/")
	if i == nil || !extended || strings.HasSuffix(group, "kubernetes.io") {
		return false
	}
	return slices.Contains(i.Names, string(name)) || slices.Contains(i.Groups, group)
}

func (resourcesFit) Name() string { return "NodeResourcesFit" }

func (f resourcesFit) PreFilter(_ *cache.Cluster, p *cache.PodInfo) (framework.FilterFunc, framework.Status) {
	plain := len(p.Requests.Other) == 0
	return func(n *cache.NodeInfo) framework.Status {
		r, free := &p.Requests, &n.Allocatable
		if plain && len(n.Pods) < n.MaxPods &&
			(r.MilliCPU == 0 || r.MilliCPU <= free.MilliCPU-n.Requested.MilliCPU) &&
			(r.Memory == 0 || r.Memory <= free.Memory-n.Requested.Memory) &&
			(r.EphemeralStorage == 0 || r.EphemeralStorage <= free.EphemeralStorage-n.Requested.EphemeralStorage) {
			return success
		}
		return f.insufficient(p, n)
	}, success
}

func (resourcesFit) EventsToRegister() framework.EventKind {
	return framework.NodeAdded | framework.NodeChanged | framework.PodRemoved | framework.DeviceClassChanged
}
func (f resourcesFit) QueueingHint(p *cache.PodInfo, e *framework.ClusterEvent) bool {
	if e.Kind == framework.DeviceClassChanged {
		return offers(p, e.Class, e.OldClass)
	}
	if e.Node.Node == nil {
		return false
	}
	for _, other := range e.Node.Pods {
		if other.Nominee != nil {
			return true // p may replace it
		}
	}
	return f.insufficient(p, e.Node).IsSuccess()
}

// insufficient returns a reason for every resource of which n has too little left for p.
func (f resourcesFit) insufficient(p *cache.PodInfo, n *cache.NodeInfo) (v framework.Status) {
	if len(n.Pods)+1 > n.MaxPods {
		v.Reasons = append(v.Reasons, "Too many pods")
	}
	check := func(name corev1.ResourceName, want int64) {
		if want > 0 && want > n.Allocatable.Get(name)-n.Requested.Get(name) {
			v.Reasons = append(v.Reasons, "Insufficient "+string(name))
			v.Unresolvable = v.Unresolvable || want > n.Allocatable.Get(name)
		}
	}
	check(corev1.ResourceCPU, p.Requests.MilliCPU)
	check(corev1.ResourceMemory, p.Requests.Memory)
	check(corev1.ResourceEphemeralStorage, p.Requests.EphemeralStorage)
	if len(p.Requests.Other) > 0 {
		names := make([]corev1.ResourceName, 0, len(p.Requests.Other))
		for name := range p.Requests.Other {
			if !f.ignored.has(name) && !n.HasAsDevices(name) {
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

// offers reports whether a new or changed class offers an extended resource of p that it did not offer before.
func offers(p *cache.PodInfo, class, old *resourcev1.DeviceClass) bool {
	explicit := corev1.ResourceName(ptr.Deref(class.Spec.ExtendedResourceName, ""))
	if old == nil {
		return p.Requests.Get(explicit) > 0 || p.Requests.Get(corev1.ResourceName(resourcev1.ResourceDeviceClassPrefix+class.Name)) > 0
	}
	return string(explicit) != ptr.Deref(old.Spec.ExtendedResourceName, "") && p.Requests.Get(explicit) > 0
}
