package volumes

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/node/dependencies"
)

// grow enlarges the volume of a claim to the claim's present request.
func (d *driver) grow(ctx context.Context, c *corev1.PersistentVolumeClaim) error {
	want, told := c.Spec.Resources.Requests[corev1.ResourceStorage], c.Status.Capacity[corev1.ResourceStorage]
	if want.Cmp(told) <= 0 || c.Annotations[dependencies.ProvisionerOf] != dependencies.Simulated {
		return nil
	}
	v, ok := d.volumes.Store().Get("", c.Spec.VolumeName)
	if !ok || v.Spec.ClaimRef == nil || v.Spec.ClaimRef.UID != c.UID {
		return fmt.Errorf("the volume %q is not bound to claim %s/%s", c.Spec.VolumeName, c.Namespace, c.Name)
	}
	if v.Annotations[provisionedBy] != dependencies.Simulated {
		return nil
	}
	if have := v.Spec.Capacity[corev1.ResourceStorage]; want.Cmp(have) > 0 {
		changed := v.DeepCopy()
		changed.Spec.Capacity[corev1.ResourceStorage] = want
		if _, err := d.volumes.API.Update(ctx, changed); err != nil {
			return err
		}
	}
	changed := c.DeepCopy()
	changed.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: want}
	if _, err := d.claims.API.Namespace(c.Namespace).UpdateStatus(ctx, changed); err != nil {
		return err
	}
	d.rec.Event(c, corev1.EventTypeNormal, "VolumeResizeSuccessful", "Resize volume succeeded")
	return nil
}
