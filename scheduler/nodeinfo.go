package scheduler

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// NodeInfo is a node with what runs on it. To filters and scores it is read-only.
type NodeInfo struct {
	Node        *corev1.Node // nil while only pods of it are known
	Allocatable Resources
	MaxPods     int
	Requested   Resources
	Compared    Resources

	name   string
	closed bool // cordoned
	pods   map[types.UID]*PodInfo
	ports  map[hostPort]int
	taints []corev1.Taint    // that keep pods away: NoSchedule, NoExecute
	mild   []corev1.Taint    // PreferNoSchedule
	images map[string]*image // by name
	slot   int               // its place in every tally
	place  int               // its index in Cluster.order; -1: not there
}

// Pods returns how many pods count on the node.
func (n *NodeInfo) Pods() int { return len(n.pods) }

func (n *NodeInfo) setNode(node *corev1.Node) {
	n.Node = node
	n.Allocatable = resourcesOf(node.Status.Allocatable)
	n.MaxPods = int(node.Status.Allocatable.Pods().Value())
	n.closed = node.Spec.Unschedulable
	n.taints, n.mild = nil, nil
	for _, t := range node.Spec.Taints {
		switch t.Effect {
		case corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute:
			n.taints = append(n.taints, t)
		case corev1.TaintEffectPreferNoSchedule:
			n.mild = append(n.mild, t)
		}
	}
	if t, ok := readinessTaint(node); ok {
		n.taints = append(n.taints, t)
	}
}

// readinessTaint is the taint that a node lifecycle controller puts on a node that is
// not ready. It is applied here at once, so that no pod lands on such a node in the
// meantime or where no such controller runs. A node that never reported counts as ready.
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

// count adds (times 1) or takes away (times -1) what a pod uses.
func (n *NodeInfo) count(p *PodInfo, times int) {
	n.Requested.add(&p.Requests, int64(times))
	n.Compared.add(&p.Compared, int64(times))
	if times > 0 {
		n.pods[p.Pod.UID] = p
	} else {
		delete(n.pods, p.Pod.UID)
	}
	for _, port := range p.ports {
		if n.ports == nil {
			n.ports = map[hostPort]int{}
		}
		if n.ports[port] += times; n.ports[port] == 0 {
			delete(n.ports, port)
		}
	}
}
