package persistentvolume

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/controller"
)

// ifBound returns the key of a bound claim.
func ifBound(c *corev1.PersistentVolumeClaim) []controller.Key {
	if c.Status.Phase != corev1.ClaimBound {
		return nil
	}
	return controller.Self(c)
}

// grows reports whether a claim's requested or actual size has increased.
func grows(old, c *corev1.PersistentVolumeClaim) bool {
	asked, asks := old.Spec.Resources.Requests[corev1.ResourceStorage], c.Spec.Resources.Requests[corev1.ResourceStorage]
	had, has := old.Status.Capacity[corev1.ResourceStorage], c.Status.Capacity[corev1.ResourceStorage]
	return asks.Cmp(asked) > 0 || has.Cmp(had) > 0
}

// syncSize records in an event that a claim's volume must be expanded by its external provisioner.
func (b *binder) syncSize(ctx context.Context, c *corev1.PersistentVolumeClaim) (controller.Result, error) {
	if c.Status.Phase != corev1.ClaimBound {
		return controller.Result{}, nil
	}
	if want, told := c.Spec.Resources.Requests[corev1.ResourceStorage], c.Status.Capacity[corev1.ResourceStorage]; want.Cmp(told) <= 0 {
		return controller.Result{}, nil
	}
	v, ok := b.volumes.Store().Get("", c.Spec.VolumeName)
	if !ok || v.Spec.ClaimRef == nil || v.Spec.ClaimRef.UID != c.UID {
		return controller.Result{}, fmt.Errorf("the volume %q is not bound to claim %s", c.Spec.VolumeName, controller.KeyOf(c))
	}
	b.rec.From("volume_expand", "").Event(c, corev1.EventTypeNormal, "ExternalExpanding", "waiting for an external controller to expand this PVC")
	return controller.Result{}, nil
}
