package framework

import "fairlead.dev/internal/scheduler/cache"

// A ClusterEvent is a change in the cluster that may make an unschedulable pod fit.
type ClusterEvent struct {
	Kind EventKind
	Node *cache.NodeInfo // of node events, and the node of the pod in pod events
	Pod  *cache.PodInfo  // of pod events: a pod that is or was on Node
}

// An EventKind is a set of kinds of events.
type EventKind uint

// The kinds.
const (
	NodeAdded EventKind = 1 << iota
	NodeChanged
	PodAdded   // to a node, or its labels changed
	PodRemoved // from a node: deleted or ended
	VolumesChanged
	NamespaceChanged
	NodeRemoved
)

// Label returns the name of a single kind in metrics: kube-scheduler's, where it has the kind.
func (k EventKind) Label() string {
	switch k {
	case NodeAdded:
		return "NodeAdd"
	case NodeChanged:
		return "NodeUpdate"
	case NodeRemoved:
		return "NodeDelete"
	case PodAdded:
		return "AssignedPodAdd"
	case PodRemoved:
		return "AssignedPodDelete"
	case VolumesChanged:
		return "VolumesChange"
	case NamespaceChanged:
		return "NamespaceUpdate"
	}
	return ""
}

func (k EventKind) Has(of EventKind) bool { return k&of != 0 }
