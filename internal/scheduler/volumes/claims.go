package volumes

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

// isEphemeral reports whether the claim belongs to an ephemeral volume of the pod.
func isEphemeral(pod *corev1.Pod, claim string) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.Ephemeral != nil && pod.Name+"-"+v.Name == claim
	})
}

// claimOf finds a claim that a pod mounts, and checks that it can be mounted.
func claimOf(c *cache.Cluster, p *cache.PodInfo, name string) (*corev1.PersistentVolumeClaim, framework.Status) {
	claim, ok := c.Objects.Claim(p.Pod.Namespace, name)
	switch own := isEphemeral(p.Pod, name); {
	case !ok && own:
		return nil, framework.Unresolvable(fmt.Sprintf("waiting for ephemeral volume controller to create the persistentvolumeclaim %q", name))
	case !ok:
		return nil, framework.Unresolvable(fmt.Sprintf("persistentvolumeclaim %q not found", name))
	case claim.Status.Phase == corev1.ClaimLost:
		return nil, framework.Unresolvable(fmt.Sprintf("persistentvolumeclaim %q bound to non-existent persistentvolume %q", name, claim.Spec.VolumeName))
	case claim.DeletionTimestamp != nil:
		return nil, framework.Unresolvable(fmt.Sprintf("persistentvolumeclaim %q is being deleted", name))
	case own && !metav1.IsControlledBy(claim, p.Pod):
		return nil, framework.Unresolvable(fmt.Sprintf("PVC %s/%s was not created for pod %s/%s (pod is not owner)", claim.Namespace, name, p.Pod.Namespace, p.Pod.Name))
	}
	return claim, success
}

// Kubernetes' annotations of volumes and claims.
const (
	AnnBindCompleted     = "pv.kubernetes.io/bind-completed"
	annBoundByController = "pv.kubernetes.io/bound-by-controller"
	AnnSelectedNode      = "volume.kubernetes.io/selected-node"
	NoProvisioner        = "kubernetes.io/no-provisioner"
)

// isBound reports whether the binding of a claim is complete.
func isBound(claim *corev1.PersistentVolumeClaim) bool {
	_, completed := claim.Annotations[AnnBindCompleted]
	return claim.Spec.VolumeName != "" && completed
}

// classOf returns the storage class of a claim.
func classOf(claim *corev1.PersistentVolumeClaim) string {
	if class, ok := claim.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return class
	}
	if claim.Spec.StorageClassName != nil {
		return *claim.Spec.StorageClassName
	}
	return ""
}

// isDelayedBinding reports whether the volumes of a class are chosen when a pod is scheduled.
func isDelayedBinding(class *storagev1.StorageClass) bool {
	return class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
}

// volumeNodeAffinity returns the node affinity of a volume; nil if any node reaches it.
func volumeNodeAffinity(pv *corev1.PersistentVolume) (*cache.RequiredNodeAffinity, error) {
	if a := pv.Spec.NodeAffinity; a != nil && a.Required != nil {
		return cache.NewRequiredNodeAffinity(&corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: a.Required,
		}}})
	}
	return nil, nil
}
