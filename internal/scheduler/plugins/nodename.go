package plugins

import (
	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

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
