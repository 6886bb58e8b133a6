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

func (k EventKind) Has(of EventKind) bool { return k&of != 0 }
