package cache

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/scheduler/devices"
)

// A NodeInfo is a node with the pods on it. Plugins only read it.
type NodeInfo struct {
	Node             *corev1.Node // nil while only pods of it are known
	Allocatable      Resources
	MaxPods          int
	Requested        Resources
	NonZeroRequested Resources

	Name                   string
	Unschedulable          bool // cordoned
	Pods                   map[types.UID]*PodInfo
	HostPorts              map[HostPort]int
	NoScheduleTaints       []corev1.Taint // NoSchedule and NoExecute
	PreferNoScheduleTaints []corev1.Taint // PreferNoSchedule
	Images                 []*Image
	devices                *devices.State
	slot                   int // its index in every tally
	index                  int // its index in Cluster.NodeInfos; -1: not there
}

// NumPods returns how many pods count on the node.
func (n *NodeInfo) NumPods() int { return len(n.Pods) }

// HasAsDevices reports whether the node has an extended resource not by its number, but as devices of a class.
func (n *NodeInfo) HasAsDevices(resource corev1.ResourceName) bool {
	return n.Allocatable.Other[resource] == 0 && n.devices.ClassOf(resource) != nil
}

func (n *NodeInfo) setNode(node *corev1.Node) {
	n.Node = node
	n.Allocatable = resourcesOf(node.Status.Allocatable)
	n.MaxPods = int(node.Status.Allocatable.Pods().Value())
	n.Unschedulable = node.Spec.Unschedulable
	n.NoScheduleTaints, n.PreferNoScheduleTaints = nil, nil
	for _, t := range node.Spec.Taints {
		switch t.Effect {
		case corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute:
			n.NoScheduleTaints = append(n.NoScheduleTaints, t)
		case corev1.TaintEffectPreferNoSchedule:
			n.PreferNoScheduleTaints = append(n.PreferNoScheduleTaints, t)
		}
	}
	if t, ok := readinessTaint(node); ok {
		n.NoScheduleTaints = append(n.NoScheduleTaints, t)
	}
}

// readinessTaint returns the taint that a node lifecycle controller puts on a NotReady node. The
// scheduler applies it at once, so that no pod is bound to such a node in the meantime or where no
// such controller runs. A node that never reported counts as ready.
func readinessTaint(node *corev1.Node) (corev1.Taint, bool) {
	key := ""
	for _, c := range node.Status.Conditions {
		if c.Type != corev1.NodeReady {
			continue
		}
		switch c.Status {
		case corev1.ConditionFalse:
			key = corev1.TaintNodeNotReady
		case corev1.ConditionUnknown:
			key = corev1.TaintNodeUnreachable
		}
	}
	if key == "" {
		return corev1.Taint{}, false
	}
	for _, t := range node.Spec.Taints {
		if t.Key == key && t.Effect == corev1.TaintEffectNoSchedule {
			return corev1.Taint{}, false
		}
	}
	return corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule}, true
}

// count adds (times is 1) or subtracts (times is -1) the requests and ports of a pod.
func (n *NodeInfo) count(p *PodInfo, times int) {
	n.Requested.add(&p.Requests, int64(times))
	n.NonZeroRequested.add(&p.NonZeroRequests, int64(times))
	if times > 0 {
		n.Pods[p.Pod.UID] = p
	} else {
		delete(n.Pods, p.Pod.UID)
	}
	for _, port := range p.HostPorts {
		if n.HostPorts == nil {
			n.HostPorts = map[HostPort]int{}
		}
		if n.HostPorts[port] += times; n.HostPorts[port] == 0 {
			delete(n.HostPorts, port)
		}
	}
}
