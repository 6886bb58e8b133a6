package volumes

import (
	"context"

	"golang.org/x/sync/errgroup"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/node/dependencies"
)

// Annotations through which the parts that handle volumes talk; Kubernetes' own.
const (
	provisionedBy = "pv.kubernetes.io/provisioned-by"
	selectedNode  = "volume.kubernetes.io/selected-node"
)

type driver struct {
	claimAPI  client.Resource[*corev1.PersistentVolumeClaim]
	volumeAPI client.Resource[*corev1.PersistentVolume]
	claims    *informer.Informer[*corev1.PersistentVolumeClaim]
	volumes   *informer.Informer[*corev1.PersistentVolume]
	classes   *informer.Informer[*storagev1.StorageClass]
	rec       *client.Recorder
	claimLoop *controller.Controller
	volLoop   *controller.Controller
}

// New returns the driver.
func New(env controller.Env) controller.Runner {
	d := &driver{
		claimAPI:  client.For[*corev1.PersistentVolumeClaim](env.Client),
		volumeAPI: client.For[*corev1.PersistentVolume](env.Client),
		claims:    informer.For[*corev1.PersistentVolumeClaim](env.Informers),
		volumes:   informer.For[*corev1.PersistentVolume](env.Informers),
		classes:   informer.For[*storagev1.StorageClass](env.Informers),
		rec:       env.Recorder.From(dependencies.Simulated, ""),
	}
	d.claimLoop = controller.New("simulatedvolumeclaim", d.syncClaim, controller.Options{})
	d.volLoop = controller.New("simulatedvolume", d.syncVolume, controller.Options{})
	controller.Watch(d.claimLoop, d.claims, controller.Self[*corev1.PersistentVolumeClaim])
	controller.Watch(d.claimLoop, d.classes, d.waiting)
	controller.WatchFunc(d.claimLoop, d.volumes, informer.Handler[*corev1.PersistentVolume]{})
	controller.Watch(d.volLoop, d.volumes, controller.Self[*corev1.PersistentVolume])
	return d
}

// Run runs the loops.
func (d *driver) Run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return d.claimLoop.Run(ctx) })
	g.Go(func() error { return d.volLoop.Run(ctx) })
	return g.Wait()
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
func (d *driver) syncClaim(ctx context.Context, k controller.Key) (controller.Result, error) {
	c, ok := d.claims.Store().Get(k.Namespace, k.Name)
	switch {
	case !ok:
		return controller.Result{}, nil
	case asks(c):
		return controller.Result{}, d.provision(ctx, c)
	case c.Status.Phase == corev1.ClaimBound:
		return controller.Result{}, d.grow(ctx, c)
	}
	return controller.Result{}, nil
}

// syncVolume deletes a volume that is released, if it was made here and its reclaim policy says so.
func (d *driver) syncVolume(ctx context.Context, k controller.Key) (controller.Result, error) {
	v, ok := d.volumes.Store().Get("", k.Name)
	if !ok || v.Annotations[provisionedBy] != dependencies.Simulated || v.DeletionTimestamp != nil ||
		v.Status.Phase != corev1.VolumeReleased || v.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
		return controller.Result{}, nil
	}
	err := d.volumeAPI.Delete(ctx, v.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &v.UID}})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		err = nil
	}
	return controller.Result{}, err
}
