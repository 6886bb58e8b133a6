package expansion

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Annotations that the components that expand volumes share.
const (
	// PreResizeCapacity is set on a volume until its file system is expanded: the capacity of the claim before that.
	PreResizeCapacity = "volume.alpha.kubernetes.io/pre-resize-capacity"
	// NodeExpansionNotRequired is set on a claim whose last expansion needed no node.
	NodeExpansionNotRequired = "volume.kubernetes.io/node-expansion-not-required"
	// Resizer is set on a claim: the name of the driver that expands it.
	Resizer = "volume.kubernetes.io/storage-resizer"
)

// conditions are the types of conditions that belong to an expansion.
var conditions = []corev1.PersistentVolumeClaimConditionType{
	corev1.PersistentVolumeClaimResizing, corev1.PersistentVolumeClaimFileSystemResizePending,
	corev1.PersistentVolumeClaimControllerResizeError, corev1.PersistentVolumeClaimNodeResizeError,
}

// Wanted reports whether a bound claim requests more than it has.
func Wanted(c *corev1.PersistentVolumeClaim) bool {
	return c.Status.Phase == corev1.ClaimBound && c.Spec.Resources.Requests.Storage().Cmp(*c.Status.Capacity.Storage()) > 0
}

// Bound reports whether a volume, which may be nil, is bound to a claim.
func Bound(v *corev1.PersistentVolume, c *corev1.PersistentVolumeClaim) bool {
	return v != nil && v.Spec.ClaimRef != nil && v.Spec.ClaimRef.UID == c.UID
}

// Rebound reports whether the claim of a volume has changed.
func Rebound(old, v *corev1.PersistentVolume) bool {
	was, is := old.Spec.ClaimRef, v.Spec.ClaimRef
	return is != nil && (was == nil || was.UID != is.UID)
}

// StateOf returns the state of the expansion to a size, "" before Begin.
func StateOf(s *corev1.PersistentVolumeClaimStatus, size resource.Quantity) corev1.ClaimResourceStatus {
	if at, ok := s.AllocatedResources[corev1.ResourceStorage]; !ok || at.Cmp(size) != 0 {
		return ""
	}
	return s.AllocatedResourceStatuses[corev1.ResourceStorage]
}

// IsOnNode reports whether the next step of an expansion is a node's.
func IsOnNode(state corev1.ClaimResourceStatus) bool {
	return state == corev1.PersistentVolumeClaimNodeResizePending || state == corev1.PersistentVolumeClaimNodeResizeInProgress
}

// Begin records that the control plane expands the volume to a size.
func Begin(s *corev1.PersistentVolumeClaimStatus, size resource.Quantity) {
	dropConditions(s)
	s.Conditions = append(s.Conditions, corev1.PersistentVolumeClaimCondition{
		Type: corev1.PersistentVolumeClaimResizing, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now(),
	})
	setStatus(s, corev1.PersistentVolumeClaimControllerResizeInProgress)
	if s.AllocatedResources == nil {
		s.AllocatedResources = corev1.ResourceList{}
	}
	s.AllocatedResources[corev1.ResourceStorage] = size
}

// AwaitNode records that a node has to expand the file system.
func AwaitNode(s *corev1.PersistentVolumeClaimStatus) {
	pending := corev1.PersistentVolumeClaimCondition{
		Type: corev1.PersistentVolumeClaimFileSystemResizePending, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now(),
		Message: "Waiting for user to (re-)start a pod to finish file system resize of volume on node.",
	}
	s.Conditions = slices.DeleteFunc(s.Conditions, func(c corev1.PersistentVolumeClaimCondition) bool { return c.Type == pending.Type })
	s.Conditions = append(s.Conditions, pending)
	setStatus(s, corev1.PersistentVolumeClaimNodeResizePending)
}

// ExpandOnNode records that a node expands the file system.
func ExpandOnNode(s *corev1.PersistentVolumeClaimStatus) {
	setStatus(s, corev1.PersistentVolumeClaimNodeResizeInProgress)
}

// Finish records the new capacity. The allocated resources stay, as a record of the last expansion.
func Finish(s *corev1.PersistentVolumeClaimStatus, size resource.Quantity) {
	dropConditions(s)
	if s.Capacity == nil {
		s.Capacity = corev1.ResourceList{}
	}
	s.Capacity[corev1.ResourceStorage] = size
	if delete(s.AllocatedResourceStatuses, corev1.ResourceStorage); len(s.AllocatedResourceStatuses) == 0 {
		s.AllocatedResourceStatuses = nil
	}
}

// dropConditions removes the conditions of an expansion.
func dropConditions(s *corev1.PersistentVolumeClaimStatus) {
	s.Conditions = slices.DeleteFunc(s.Conditions, func(c corev1.PersistentVolumeClaimCondition) bool { return slices.Contains(conditions, c.Type) })
}

func setStatus(s *corev1.PersistentVolumeClaimStatus, status corev1.ClaimResourceStatus) {
	if s.AllocatedResourceStatuses == nil {
		s.AllocatedResourceStatuses = map[corev1.ResourceName]corev1.ClaimResourceStatus{}
	}
	s.AllocatedResourceStatuses[corev1.ResourceStorage] = status
}

// Enlarge sets the capacity of a volume. If a node has to expand its file system, the volume keeps the claim's former
// capacity until then.
func Enlarge(v *corev1.PersistentVolume, size, former resource.Quantity, onNode bool) {
	v.Spec.Capacity[corev1.ResourceStorage] = size
	if _, has := v.Annotations[PreResizeCapacity]; onNode && !has {
		metav1.SetMetaDataAnnotation(&v.ObjectMeta, PreResizeCapacity, former.String())
	}
}

// IsSettled reports whether the former capacity that a volume keeps is no longer of use, since its claim has the new one.
func IsSettled(c *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) bool {
	_, has := v.Annotations[PreResizeCapacity]
	return has && c.Status.Capacity.Storage().Cmp(*v.Spec.Capacity.Storage()) >= 0
}
