package scheduler

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// claimNames are the claims a pod mounts, those of ephemeral volumes included.
func claimNames(pod *corev1.Pod) (names []string) {
	for i := range pod.Spec.Volumes {
		switch v := &pod.Spec.Volumes[i]; {
		case v.PersistentVolumeClaim != nil:
			names = append(names, v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil:
			names = append(names, pod.Name+"-"+v.Name)
		}
	}
	return names
}

// isEphemeral says whether the pod itself brings the claim.
func isEphemeral(pod *corev1.Pod, claim string) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
		return v.Ephemeral != nil && pod.Name+"-"+v.Name == claim
	})
}

// claim finds a claim that a pod mounts, in a state in which it can be mounted.
func (c *Cluster) claim(p *PodInfo, name string) (*corev1.PersistentVolumeClaim, Verdict) {
	claim, ok := c.objects.Claim(p.Pod.Namespace, name)
	switch own := isEphemeral(p.Pod, name); {
	case !ok && own:
		return nil, Never(fmt.Sprintf("waiting for ephemeral volume controller to create the persistentvolumeclaim %q", name))
	case !ok:
		return nil, Never(fmt.Sprintf("persistentvolumeclaim %q not found", name))
	case claim.Status.Phase == corev1.ClaimLost:
		return nil, Never(fmt.Sprintf("persistentvolumeclaim %q bound to non-existent persistentvolume %q", name, claim.Spec.VolumeName))
	case claim.DeletionTimestamp != nil:
		return nil, Never(fmt.Sprintf("persistentvolumeclaim %q is being deleted", name))
	case own && !metav1.IsControlledBy(claim, p.Pod):
		return nil, Never(fmt.Sprintf("PVC %s/%s was not created for pod %s/%s (pod is not owner)", claim.Namespace, name, p.Pod.Namespace, p.Pod.Name))
	}
	return claim, fits
}

// Annotations through which those that handle volumes talk; Kubernetes' own.
const (
	bindCompleted = "pv.kubernetes.io/bind-completed"
	boundByUs     = "pv.kubernetes.io/bound-by-controller"
	selectedNode  = "volume.kubernetes.io/selected-node"
	noProvisioner = "kubernetes.io/no-provisioner"
)

// isBound says whether a claim has its volume for good.
func isBound(claim *corev1.PersistentVolumeClaim) bool {
	_, completed := claim.Annotations[bindCompleted]
	return claim.Spec.VolumeName != "" && completed
}

// classOf is the class of a claim.
func classOf(claim *corev1.PersistentVolumeClaim) string {
	if class, ok := claim.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return class
	}
	if claim.Spec.StorageClassName != nil {
		return *claim.Spec.StorageClassName
	}
	return ""
}

// late says whether the volumes of a class are chosen when a pod is placed.
func late(class *storagev1.StorageClass) bool {
	return class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
}

// volumeRule is the node affinity of a volume; nil is any node.
func volumeRule(pv *corev1.PersistentVolume) (*nodeRule, error) {
	if a := pv.Spec.NodeAffinity; a != nil && a.Required != nil {
		return newNodeRule(&corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: a.Required,
		}}})
	}
	return nil, nil
}
