package cache

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Objects looks up the objects that plugins need besides nodes and pods. Answers come from memory.
type Objects interface {
	NamespaceLabels(name string) map[string]string
	// Services returns the services of a namespace whose selector may match pods with these labels.
	Services(namespace string, podLabels map[string]string) []*corev1.Service
	// OwnerSelector returns the selector of a ReplicaSet, ReplicationController or StatefulSet; nil
	// if the owner is of another kind or unknown.
	OwnerSelector(namespace string, owner *metav1.OwnerReference) *metav1.LabelSelector
	Budgets(namespace string) []*policyv1.PodDisruptionBudget
	Claim(namespace, name string) (*corev1.PersistentVolumeClaim, bool)
	Volume(name string) (*corev1.PersistentVolume, bool)
	// Volumes returns the volumes of a class, including bound ones.
	Volumes(class string) []*corev1.PersistentVolume
	Class(name string) (*storagev1.StorageClass, bool)
	CSINode(name string) (*storagev1.CSINode, bool)
	CSIDriver(name string) (*storagev1.CSIDriver, bool)
	// Attachments returns the current and requested attachments of a node.
	Attachments(node string) []*storagev1.VolumeAttachment
	// Capacities returns the storage capacities that the driver of a class reports.
	Capacities(class string) []*storagev1.CSIStorageCapacity
	// BindVolumes writes the volumes chosen for a pod on a node and waits until they are bound. It
	// is called from other goroutines.
	BindVolumes(ctx context.Context, node *corev1.Node, choices []ClaimBinding) error
}

// A ClaimBinding is the volume chosen for a claim.
type ClaimBinding struct {
	Claim  *corev1.PersistentVolumeClaim
	Volume *corev1.PersistentVolume // nil: the volume is to be provisioned
}
