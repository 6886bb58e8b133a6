package cache

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Objects is what rules need to know besides nodes and pods. Answers are from memory.
type Objects interface {
	NamespaceLabels(name string) map[string]string
	// Services of a namespace whose selector may fit pods with these labels.
	Services(namespace string, podLabels map[string]string) []*corev1.Service
	// OwnerSelector is the selector of a ReplicaSet, ReplicationController or
	// StatefulSet; nil if it is none of these or not known.
	OwnerSelector(namespace string, owner *metav1.OwnerReference) *metav1.LabelSelector
	Budgets(namespace string) []*policyv1.PodDisruptionBudget
	Claim(namespace, name string) (*corev1.PersistentVolumeClaim, bool)
	Volume(name string) (*corev1.PersistentVolume, bool)
	// Volumes of a class, of which some may be taken.
	Volumes(class string) []*corev1.PersistentVolume
	Class(name string) (*storagev1.StorageClass, bool)
	CSINode(name string) (*storagev1.CSINode, bool)
	CSIDriver(name string) (*storagev1.CSIDriver, bool)
	// Attachments are what is attached to a node, or is to be.
	Attachments(node string) []*storagev1.VolumeAttachment
	// Capacities are what is left for volumes of a class, of its driver's places.
	Capacities(class string) []*storagev1.CSIStorageCapacity
	// BindVolumes writes a choice of volumes for a pod on a node and waits until they are
	// bound. It is called from other goroutines.
	BindVolumes(ctx context.Context, node *corev1.Node, choices []ClaimBinding) error
}

// ClaimBinding says where a claim's volume comes from.
type ClaimBinding struct {
	Claim  *corev1.PersistentVolumeClaim
	Volume *corev1.PersistentVolume // nil: it is to be made
}
