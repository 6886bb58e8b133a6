package scheduler

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
)

var fits Verdict

// readable rejects pods whose rules cannot be read.
type readable struct{}

func (readable) Name() string { return "Readable" }
func (readable) Prepare(_ *Cluster, p *PodInfo) (Check, Verdict) {
	if p.bad != nil {
		return nil, Never(p.bad.Error())
	}
	return nil, fits
}
func (readable) Events() EventKind           { return 0 }
func (readable) Helps(*PodInfo, *Event) bool { return false }

// unsupported holds back pods with demands that this scheduler does not know how to meet.
type unsupported struct{}

func (unsupported) Name() string { return "Unsupported" }
func (unsupported) Prepare(_ *Cluster, p *PodInfo) (Check, Verdict) {
	switch {
	case len(p.Pod.Spec.ResourceClaims) > 0:
		return nil, Never("pod has resource claims, which this scheduler does not allocate")
	case p.Pod.Spec.SchedulingGroup != nil:
		return nil, Never("pod belongs to a scheduling group, which this scheduler does not place")
	}
	return nil, fits
}
func (unsupported) Events() EventKind           { return 0 }
func (unsupported) Helps(*PodInfo, *Event) bool { return false }

// nodeUnschedulable keeps pods off cordoned nodes.
type nodeUnschedulable struct{}

func (nodeUnschedulable) Name() string { return "NodeUnschedulable" }
func (nodeUnschedulable) Prepare(_ *Cluster, p *PodInfo) (Check, Verdict) {
	cordon := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
	if tolerates(p.Pod.Spec.Tolerations, &cordon) {
		return nil, fits
	}
	rejected := Never("node(s) were unschedulable")
	return func(n *NodeInfo) Verdict {
		if n.closed {
			return rejected
		}
		return fits
	}, fits
}
func (nodeUnschedulable) Events() EventKind { return NodeAdded | NodeChanged }
func (nodeUnschedulable) Helps(_ *PodInfo, e *Event) bool {
	return !e.Node.Node.Spec.Unschedulable
}

// nodeName keeps a pod that names its node to that node.
type nodeName struct{}

func (nodeName) Name() string { return "NodeName" }
func (nodeName) Prepare(_ *Cluster, p *PodInfo) (Check, Verdict) {
	name := p.Pod.Spec.NodeName
	if name == "" {
		return nil, fits
	}
	rejected := Never("node(s) didn't match the requested node name")
	return func(n *NodeInfo) Verdict {
		if n.Node.Name != name {
			return rejected
		}
		return fits
	}, fits
}
func (nodeName) Events() EventKind { return NodeAdded }
func (nodeName) Helps(p *PodInfo, e *Event) bool {
	return e.Node.Node.Name == p.Pod.Spec.NodeName
}

// taintToleration keeps pods off nodes with taints that they do not tolerate, and off
// nodes that are not ready.
type taintToleration struct{}

func (taintToleration) Name() string { return "TaintToleration" }
func (taintToleration) Prepare(_ *Cluster, p *PodInfo) (Check, Verdict) {
	rejected := Never("node(s) had untolerated taint(s)")
	return func(n *NodeInfo) Verdict {
		if !toleratesAll(p.Pod.Spec.Tolerations, n.taints) {
			return rejected
		}
		return fits
	}, fits
}
func (taintToleration) Events() EventKind { return NodeAdded | NodeChanged }
func (taintToleration) Helps(p *PodInfo, e *Event) bool {
	return toleratesAll(p.Pod.Spec.Tolerations, e.Node.taints)
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
	added *nodeRule // to that of every pod
}

func (nodeAffinity) Name() string { return "NodeAffinity" }
func (f nodeAffinity) Prepare(_ *Cluster, p *PodInfo) (Check, Verdict) {
	if p.nodes == nil && f.added == nil {
		return nil, fits
	}
	if names, narrowed := f.Narrow(p); narrowed && len(names) == 0 {
		return nil, Never("pod affinity terms conflict")
	}
	rejected := Never("node(s) didn't match Pod's node affinity/selector")
	enforced := Never("node(s) didn't match scheduler-enforced node affinity")
	return func(n *NodeInfo) Verdict {
		if !f.added.matches(n.Node) {
			return enforced
		}
		if !p.nodes.matches(n.Node) {
			return rejected
		}
		return fits
	}, fits
}

// Narrow returns the nodes that every term names.
func (nodeAffinity) Narrow(p *PodInfo) ([]string, bool) {
	if p.nodes == nil {
		return nil, false
	}
	return p.nodes.names, p.nodes.named
}

func (nodeAffinity) Events() EventKind { return NodeAdded | NodeChanged }
func (f nodeAffinity) Helps(p *PodInfo, e *Event) bool {
	return f.added.matches(e.Node.Node) && p.nodes.matches(e.Node.Node)
}

// nodePorts keeps pods apart that take the same port of their node.
type nodePorts struct{}

func (nodePorts) Name() string { return "NodePorts" }
func (nodePorts) Prepare(_ *Cluster, p *PodInfo) (Check, Verdict) {
	if len(p.ports) == 0 {
		return nil, fits
	}
	rejected := No("node(s) didn't have free ports for the requested pod ports")
	return func(n *NodeInfo) Verdict {
		for taken := range n.ports {
			if slices.ContainsFunc(p.ports, taken.clashes) {
				return rejected
			}
		}
		return fits
	}, fits
}
func (nodePorts) Events() EventKind { return NodeAdded | PodRemoved }
func (nodePorts) Helps(p *PodInfo, e *Event) bool {
	return e.Kind == NodeAdded || slices.ContainsFunc(e.Pod.ports, func(freed hostPort) bool {
		return slices.ContainsFunc(p.ports, freed.clashes)
	})
}
