package volumes

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/internal/expansion"
	"fairlead.dev/internal/node/dependencies"
)

// Annotations through which the parts that handle volumes talk; Kubernetes' own.
const (
	provisionedBy = "pv.kubernetes.io/provisioned-by"
	selectedNode  = "volume.kubernetes.io/selected-node"
)

type driver struct {
	claims  controller.Objects[*corev1.PersistentVolumeClaim]
	volumes controller.Objects[*corev1.PersistentVolume]
	classes controller.Objects[*storagev1.StorageClass]
	pods    client.Resource[*corev1.Pod]
	rec     *client.Recorder
	resizer *client.Recorder // records the events of external-resizer
}

// New returns the driver, with two queues: of claims, and of volumes.
func New(env controller.Env) controller.Runner {
	d := &driver{
		claims:  controller.ObjectsOf[*corev1.PersistentVolumeClaim](env),
		volumes: controller.ObjectsOf[*corev1.PersistentVolume](env),
		classes: controller.ObjectsOf[*storagev1.StorageClass](env),
		pods:    client.For[*corev1.Pod](env.Client),
		rec:     env.Recorder.From(dependencies.Simulated, ""),
		resizer: env.Recorder.From("external-resizer "+dependencies.Simulated, ""),
	}
	return controller.Runners{
		controller.New("simulatedvolumeclaim", controller.ByObject(d.claims, d.syncClaim), controller.Options{}).Watch(
			controller.For(d.claims),
			controller.Watches(d.classes, d.waiting),
			controller.Watches(d.volumes, claimOf).If(expansion.Rebound),
		),
		controller.New("simulatedvolume", controller.ByObject(d.volumes, d.syncVolume), controller.Options{}).Watch(
			controller.For(d.volumes)),
	}
}

// claimOf returns the key of the claim of a volume.
func claimOf(v *corev1.PersistentVolume) []controller.Key {
	if v.Spec.ClaimRef == nil {
		return nil
	}
	return []controller.Key{{Namespace: v.Spec.ClaimRef.Namespace, Name: v.Spec.ClaimRef.Name}}
}

// waiting names the claims that wait for a volume of a class.
func (d *driver) waiting(class *storagev1.StorageClass) (keys []controller.Key) {
	for _, c := range d.claims.Store().List("") {
		if asks(c) && classOf(c) == class.Name {
			keys = append(keys, controller.KeyOf(c))
		}
	}
	return keys
}

// syncClaim makes the volume that a claim asks for, or enlarges it.
func (d *driver) syncClaim(ctx context.Context, c *corev1.PersistentVolumeClaim) (controller.Result, error) {
	switch {
	case asks(c):
		return controller.Result{}, d.provision(ctx, c)
	case c.Status.Phase == corev1.ClaimBound:
		return controller.Result{}, d.grow(ctx, c)
	}
	return controller.Result{}, nil
}

// syncVolume deletes a volume that is released, if it was made here and its reclaim policy says so.
func (d *driver) syncVolume(ctx context.Context, v *corev1.PersistentVolume) (controller.Result, error) {
	if v.Annotations[provisionedBy] != dependencies.Simulated || v.DeletionTimestamp != nil ||
		v.Status.Phase != corev1.VolumeReleased || v.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
		return controller.Result{}, nil
	}
	err := d.volumes.API.Delete(ctx, v.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &v.UID}})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		err = nil
	}
	return controller.Result{}, err
}
