package framework

import (
	resourcev1 "k8s.io/api/resource/v1"

	"fairlead.dev/internal/scheduler/cache"
)

// A ClusterEvent is a change in the cluster that may make an unschedulable pod fit.
type ClusterEvent struct {
	Kind EventKind
	Node *cache.NodeInfo // of node events, and the node of the pod in pod events
	Pod  *cache.PodInfo  // of pod events: a pod that is or was on Node
	// Claim and OldClaim are the versions of a claim after and before a ResourceClaimChanged; one of them is nil if
	// the claim was created or deleted.
	Claim, OldClaim *resourcev1.ResourceClaim
	// Class and OldClass are those of a DeviceClassChanged.
	Class, OldClass *resourcev1.DeviceClass
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
	// ResourceClaimChanged: created, changed or deleted. If that frees no devices, only the pods that use the claim
	// are asked for a QueueingHint.
	ResourceClaimChanged
	DevicesFreed         // by a pod that was not bound after all
	ResourceSliceChanged // added, changed, or tainted otherwise
	DeviceClassChanged   // added or changed
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
	case ResourceClaimChanged, DevicesFreed:
		return "ResourceClaimUpdate"
	case ResourceSliceChanged:
		return "ResourceSliceUpdate"
	case DeviceClassChanged:
		return "DeviceClassUpdate"
	}
	return ""
}

func (k EventKind) Has(of EventKind) bool { return k&of != 0 }

// FreesDevices reports whether the claim of a ResourceClaimChanged has lost its allocation.
func (e *ClusterEvent) FreesDevices() bool {
	return e.OldClaim != nil && e.OldClaim.Status.Allocation != nil && (e.Claim == nil || e.Claim.Status.Allocation == nil)
}
