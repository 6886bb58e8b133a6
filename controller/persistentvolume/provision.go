package persistentvolume

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// noProvisioner is what a class names whose volumes are all made by hand.
const noProvisioner = "kubernetes.io/no-provisioner"

// provision makes a simulated volume for the claim or, if the class has another
// provisioner, asks that one by an annotation and waits.
func (b *binder) provision(ctx context.Context, c *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) error {
	changed := c.DeepCopy()
	asks := annotate(&changed.ObjectMeta, wantsFrom, class.Provisioner)
	if annotate(&changed.ObjectMeta, wantsFromBeta, class.Provisioner) || asks {
		written, err := b.claimAPI.Namespace(c.Namespace).Update(ctx, changed)
		if err != nil {
			return err
		}
		c = written
	}
	if class.Provisioner != Provisioner {
		if class.Provisioner != noProvisioner {
			b.rec.Event(c, corev1.EventTypeNormal, "ExternalProvisioning",
				"Waiting for a volume to be created either by the external provisioner '%s' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.", class.Provisioner)
		}
		return b.claimPhase(ctx, c, corev1.ClaimPending, nil)
	}
	v, err := b.volumeAPI.Create(ctx, simulated(c, class))
	if apierrors.IsAlreadyExists(err) {
		v, err = b.volumeAPI.Get(ctx, volumeName(c))
		if err == nil && !refersTo(v, c) {
			err = apierrors.NewConflict(corev1.Resource("persistentvolumes"), v.Name, nil)
		}
	}
	if err != nil {
		b.rec.Event(c, corev1.EventTypeWarning, "ProvisioningFailed", "Failed to provision volume with StorageClass %q: %v", class.Name, err)
		return err
	}
	b.rec.Event(c, corev1.EventTypeNormal, "ProvisioningSucceeded", "Successfully provisioned volume %s using %s", v.Name, Provisioner)
	return b.bind(ctx, c, v)
}

func volumeName(c *corev1.PersistentVolumeClaim) string { return "pvc-" + string(c.UID) }

// simulated describes the volume that the claim asks for.
func simulated(c *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name:        volumeName(c),
			Annotations: map[string]string{provisionedBy: Provisioner, boundByUs: "yes"},
		},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: c.Spec.Resources.Requests[corev1.ResourceStorage]},
			AccessModes:                   c.Spec.AccessModes,
			ClaimRef:                      reference(c),
			PersistentVolumeReclaimPolicy: ptr.Deref(class.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete),
			StorageClassName:              class.Name,
			MountOptions:                  class.MountOptions,
			VolumeMode:                    c.Spec.VolumeMode,
			VolumeAttributesClassName:     c.Spec.VolumeAttributesClassName,
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
				Driver: Provisioner, VolumeHandle: volumeName(c),
			}},
		},
	}
	if node := c.Annotations[selectedNode]; node != "" {
		v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}},
		}}}}
	}
	return v
}

// grow enlarges a simulated volume to what its claim asks for by now.
func (b *binder) grow(ctx context.Context, c *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) error {
	want, have, told := c.Spec.Resources.Requests[corev1.ResourceStorage], v.Spec.Capacity[corev1.ResourceStorage], c.Status.Capacity[corev1.ResourceStorage]
	if v.Annotations[provisionedBy] != Provisioner || c.Status.Phase != corev1.ClaimBound || want.Cmp(told) <= 0 {
		return nil
	}
	if want.Cmp(have) > 0 {
		changed := v.DeepCopy()
		changed.Spec.Capacity[corev1.ResourceStorage] = want
		if _, err := b.volumeAPI.Update(ctx, changed); err != nil {
			return err
		}
	}
	changed := c.DeepCopy()
	changed.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: want}
	if _, err := b.claimAPI.Namespace(c.Namespace).UpdateStatus(ctx, changed); err != nil {
		return err
	}
	b.rec.Event(c, corev1.EventTypeNormal, "VolumeResizeSuccessful", "Resize volume succeeded")
	return nil
}
