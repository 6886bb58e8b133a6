package persistentvolumeexpander

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/expansion"
)

// expand expands a FlexVolume, as far as the control plane does: a kubelet finishes it.
func (e *expander) expand(ctx context.Context, c *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) error {
	size := c.Spec.Resources.Requests[corev1.ResourceStorage]
	switch c.Status.AllocatedResourceStatuses[corev1.ResourceStorage] {
	case corev1.PersistentVolumeClaimNodeResizePending, corev1.PersistentVolumeClaimNodeResizeInProgress:
		return nil // the claim returns when its capacity grows
	case corev1.PersistentVolumeClaimControllerResizeInProgress, corev1.PersistentVolumeClaimNodeResizeInfeasible:
		size = c.Status.AllocatedResources[corev1.ResourceStorage] // the volume may have that size already
	}
	c, err := e.write(ctx, c, func(c *corev1.PersistentVolumeClaim) {
		expansion.Begin(&c.Status, size)
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, expansion.Resizer, v.Spec.FlexVolume.Driver)
	})
	if err != nil {
		return err
	}
	blocks := v.Spec.VolumeMode != nil && *v.Spec.VolumeMode == corev1.PersistentVolumeBlock
	changed := v.DeepCopy()
	expansion.Enlarge(changed, size, *c.Status.Capacity.Storage(), !blocks)
	if _, err := e.volumes.API.Update(ctx, changed); err != nil {
		return err
	}
	if !blocks {
		_, err = e.write(ctx, c, func(c *corev1.PersistentVolumeClaim) { expansion.AwaitNode(&c.Status) })
		return err
	}
	if _, err = e.write(ctx, c, func(c *corev1.PersistentVolumeClaim) { expansion.Finish(&c.Status, size) }); err == nil {
		e.rec.Event(c, corev1.EventTypeNormal, "VolumeResizeSuccessful", "ExpandVolume succeeded for volume %s/%s", c.Namespace, c.Name)
	}
	return err
}

// settle removes the annotation with the former capacity from a FlexVolume whose claim has the new one.
func (e *expander) settle(ctx context.Context, c *corev1.PersistentVolumeClaim, v *corev1.PersistentVolume) error {
	if v.Spec.FlexVolume == nil || !expansion.IsSettled(c, v) {
		return nil
	}
	changed := v.DeepCopy()
	delete(changed.Annotations, expansion.PreResizeCapacity)
	_, err := e.volumes.API.Update(ctx, changed)
	return err
}
