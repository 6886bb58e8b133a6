package plugins

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

// success is the status of a node that a plugin has nothing against.
var success framework.Status

// parseErrors rejects pods whose rules cannot be read.
type parseErrors struct{}

func (parseErrors) Name() string { return "Readable" }
func (parseErrors) PreFilter(_ *cache.Cluster, p *cache.PodInfo) (framework.FilterFunc, framework.Status) {
	if p.ParseError != nil {
		return nil, framework.Unresolvable(p.ParseError.Error())
	}
	return nil, success
}
func (parseErrors) EventsToRegister() framework.EventKind                     { return 0 }
func (parseErrors) QueueingHint(*cache.PodInfo, *framework.ClusterEvent) bool { return false }

// unsupported holds back pods with demands that this scheduler does not know how to meet.
type unsupported struct{}

func (unsupported) Name() string { return "Unsupported" }
func (unsupported) PreFilter(_ *cache.Cluster, p *cache.PodInfo) (framework.FilterFunc, framework.Status) {
	switch {
	case len(p.Pod.Spec.ResourceClaims) > 0:
		return nil, framework.Unresolvable("pod has resource claims, which this scheduler does not allocate")
	case p.Pod.Spec.SchedulingGroup != nil:
		return nil, framework.Unresolvable("pod belongs to a scheduling group, which this scheduler does not place")
	}
	return nil, success
}
func (unsupported) EventsToRegister() framework.EventKind                     { return 0 }
func (unsupported) QueueingHint(*cache.PodInfo, *framework.ClusterEvent) bool { return false }

// nodeUnschedulable keeps pods off cordoned nodes.
type nodeUnschedulable struct{}

func (nodeUnschedulable) Name() string { return "NodeUnschedulable" }
func (nodeUnschedulable) PreFilter(_ *cache.Cluster, p *cache.PodInfo) (framework.FilterFunc, framework.Status) {
	cordon := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	if tolerates(p.Pod.Spec.Tolerations, &cordon) {
		return nil, success
	}
	rejected := framework.Unresolvable("node(s) were unschedulable")
	return func(n *cache.NodeInfo) framework.Status {
		if n.Unschedulable {
			return rejected
		}
		return success
	}, success
}
func (nodeUnschedulable) EventsToRegister() framework.EventKind {
	return framework.NodeAdded | framework.NodeChanged
}
func (nodeUnschedulable) QueueingHint(_ *cache.PodInfo, e *framework.ClusterEvent) bool {
	return !e.Node.Node.Spec.Unschedulable
}

// nodeName keeps a pod that names its node to that node.
type nodeName struct{}

func (nodeName) Name() string { return "NodeName" }
func (nodeName) PreFilter(_ *cache.Cluster, p *cache.PodInfo) (framework.FilterFunc, framework.Status) {
	name := p.Pod.Spec.NodeName
	if name == "" {
		return nil, success
	}
	rejected := framework.Unresolvable("node(s) didn't match the requested node name")
	return func(n *cache.NodeInfo) framework.Status {
		if n.Node.Name != name {
			return rejected
		}
		return success
	}, success
}
func (nodeName) EventsToRegister() framework.EventKind { return framework.NodeAdded }
func (nodeName) QueueingHint(p *cache.PodInfo, e *framework.ClusterEvent) bool {
	return e.Node.Node.Name == p.Pod.Spec.NodeName
}

// taintToleration keeps pods off nodes with taints that they do not tolerate, and off
// nodes that are not ready.
type taintToleration struct{}

func (taintToleration) Name() string { return "TaintToleration" }
func (taintToleration) PreFilter(_ *cache.Cluster, p *cache.PodInfo) (framework.FilterFunc, framework.Status) {
	rejected := framework.Unresolvable("node(s) had untolerated taint(s)")
	return func(n *cache.NodeInfo) framework.Status {
		if !toleratesAll(p.Pod.Spec.Tolerations, n.NoScheduleTaints) {
			return rejected
		}
		return success
	}, success
}
func (taintToleration) EventsToRegister() framework.EventKind {
	return framework.NodeAdded | framework.NodeChanged
}
func (taintToleration) QueueingHint(p *cache.PodInfo, e *framework.ClusterEvent) bool {
	return toleratesAll(p.Pod.Spec.Tolerations, e.Node.NoScheduleTaints)
}

func toleratesAll(tolerations []corev1.Toleration, taints []corev1.Taint) bool {
	for i := range taints {
		if !tolerates(tolerations, &taints[i]) {
			return false
		}
	}
	return true
}

func tolerates(tolerations []corev1.Toleration, taint *corev1.Taint) bool {
	return slices.ContainsFunc(tolerations, func(t corev1.Toleration) bool {
		return t.ToleratesTaint(klog.Logger{}, taint, false)
	})
}

// nodeAffinity keeps pods to the nodes that their selector and node affinity allow.
type nodeAffinity struct {
	added *cache.RequiredNodeAffinity // to that of every pod
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

// NodeNames returns the nodes that every term names.
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

// nodePorts keeps pods apart that take the same port of their node.
type nodePorts struct{}

func (nodePorts) Name() string { return "NodePorts" }
func (nodePorts) PreFilter(_ *cache.Cluster, p *cache.PodInfo) (framework.FilterFunc, framework.Status) {
	if len(p.HostPorts) == 0 {
		return nil, success
	}
	rejected := framework.Unschedulable("node(s) didn't have free ports for the requested pod ports")
	return func(n *cache.NodeInfo) framework.Status {
		for taken := range n.HostPorts {
			if slices.ContainsFunc(p.HostPorts, taken.Conflicts) {
				return rejected
			}
		}
		return success
	}, success
}
func (nodePorts) EventsToRegister() framework.EventKind {
	return framework.NodeAdded | framework.PodRemoved
}
func (nodePorts) QueueingHint(p *cache.PodInfo, e *framework.ClusterEvent) bool {
	return e.Kind == framework.NodeAdded || slices.ContainsFunc(e.Pod.HostPorts, func(freed cache.HostPort) bool {
		return slices.ContainsFunc(p.HostPorts, freed.Conflicts)
	})
}
