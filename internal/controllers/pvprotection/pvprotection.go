// Package pvprotection protects bound volumes: a volume has the finalizer kubernetes.io/pv-protection, from its
// creation or from this controller, which is removed when the volume is terminating and not bound.
package pvprotection

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/controller"
)

const finalizer = "kubernetes.io/pv-protection"

// New returns the controller.
func New(env controller.Env) controller.Runner {
	volumes := controller.ObjectsOf[*corev1.PersistentVolume](env)
	protect := func(ctx context.Context, v *corev1.PersistentVolume) (controller.Result, error) {
		return controller.Protect(ctx, volumes.API, v, finalizer, func() (bool, error) { return v.Status.Phase == corev1.VolumeBound, nil })
	}
	return controller.New("pvprotection", controller.ByObject(volumes, protect), controller.Options{}).Watch(controller.For(volumes))
}
