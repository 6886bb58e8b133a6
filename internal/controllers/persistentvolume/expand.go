package persistentvolume

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/controller"
	"fairlead.dev/informer"
)

// watchSizes enqueues claims whose requested or actual size has changed.
func (b *binder) watchSizes() {
	look := func(c *corev1.PersistentVolumeClaim) {
		if c.Status.Phase == corev1.ClaimBound {
			b.sizeLoop.EnqueueFor(controller.KeyOf(c), c)
		}
	}
	controller.WatchFunc(b.sizeLoop, b.claims, informer.Handler[*corev1.PersistentVolumeClaim]{
		Add: func(c *corev1.PersistentVolumeClaim, _ bool) { look(c) },
		Update: func(old, c *corev1.PersistentVolumeClaim) {
			asked, asks := old.Spec.Resources.Requests[corev1.ResourceStorage], c.Spec.Resources.Requests[corev1.ResourceStorage]
			had, has := old.Status.Capacity[corev1.ResourceStorage], c.Status.Capacity[corev1.ResourceStorage]
			if asks.Cmp(asked) > 0 || has.Cmp(had) > 0 {
				look(c)
			}
		},
	})
	controller.WatchFunc(b.sizeLoop, b.volumes, informer.Handler[*corev1.PersistentVolume]{})
}

// syncSize records in an event that a claim's volume must be expanded by its external provisioner.
func (b *binder) syncSize(ctx context.Context, k controller.Key) (controller.Result, error) {
	c, ok := b.claims.Store().Get(k.Namespace, k.Name)
	if !ok || c.Status.Phase != corev1.ClaimBound {
		return controller.Result{}, nil
	}
	if want, told := c.Spec.Resources.Requests[corev1.ResourceStorage], c.Status.Capacity[corev1.ResourceStorage]; want.Cmp(told) <= 0 {
		return controller.Result{}, nil
	}
	v, ok := b.volumes.Store().Get("", c.Spec.VolumeName)
	if !ok || v.Spec.ClaimRef == nil || v.Spec.ClaimRef.UID != c.UID {
		return controller.Result{}, fmt.Errorf("the volume %q is not bound to claim %s", c.Spec.VolumeName, k)
	}
	b.rec.From("volume_expand", "").Event(c, corev1.EventTypeNormal, "ExternalExpanding", "waiting for an external controller to expand this PVC")
	return controller.Result{}, nil
}
