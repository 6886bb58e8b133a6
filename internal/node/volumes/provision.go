package volumes

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/node/dependencies"
)

// asks reports whether a claim without a volume asks for a simulated one.
func asks(c *corev1.PersistentVolumeClaim) bool {
	return c.Annotations[dependencies.ProvisionerOf] == dependencies.Simulated && c.Spec.VolumeName == "" && c.DeletionTimestamp == nil
}

func classOf(c *corev1.PersistentVolumeClaim) string {
	if class, ok := c.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return class
	}
	return ptr.Deref(c.Spec.StorageClassName, "")
}

// provision makes the volume of a claim, once: its name is that of no other. A class that is not there, or that
// is another's or waits for a node by now, is waited for.
func (d *driver) provision(ctx context.Context, c *corev1.PersistentVolumeClaim) error {
	class, ok := d.classes.Store().Get("", classOf(c))
	if !ok || class.Provisioner != dependencies.Simulated || waitsForNode(class) && c.Annotations[selectedNode] == "" {
		return nil
	}
	if _, made := d.volumes.Store().Get("", volumeName(c)); made {
		return nil
	}
	v, err := d.volumes.API.Create(ctx, simulated(c, class))
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if err != nil {
		d.rec.Event(c, corev1.EventTypeWarning, "ProvisioningFailed", "failed to provision volume with StorageClass %q: %v", class.Name, err)
		return err
	}
	d.rec.Event(c, corev1.EventTypeNormal, "ProvisioningSucceeded", "Successfully provisioned volume %s", v.Name)
	return nil
}

func waitsForNode(class *storagev1.StorageClass) bool {
	return ptr.Deref(class.VolumeBindingMode, storagev1.VolumeBindingImmediate) == storagev1.VolumeBindingWaitForFirstConsumer
}

func volumeName(c *corev1.PersistentVolumeClaim) string { return "pvc-" + string(c.UID) }

// simulated describes the volume that the claim asks for.
func simulated(c *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name:        volumeName(c),
			Annotations: map[string]string{provisionedBy: dependencies.Simulated},
		},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:    corev1.ResourceList{corev1.ResourceStorage: c.Spec.Resources.Requests[corev1.ResourceStorage]},
			AccessModes: c.Spec.AccessModes,
			ClaimRef: &corev1.ObjectReference{
				Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: c.Namespace, Name: c.Name, UID: c.UID, ResourceVersion: c.ResourceVersion,
			},
			PersistentVolumeReclaimPolicy: ptr.Deref(class.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete),
			StorageClassName:              class.Name,
			MountOptions:                  class.MountOptions,
			VolumeMode:                    c.Spec.VolumeMode,
			VolumeAttributesClassName:     c.Spec.VolumeAttributesClassName,
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
				Driver: dependencies.Simulated, VolumeHandle: volumeName(c),
			}},
		},
	}
	if node := c.Annotations[selectedNode]; node != "" && waitsForNode(class) {
		v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}},
		}}}}
	}
	return v
}
