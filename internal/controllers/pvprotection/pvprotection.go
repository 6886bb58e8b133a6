// Package pvprotection protects bound volumes: a volume has the finalizer kubernetes.io/pv-protection, from its
// creation or from this controller, which is removed when the volume is terminating and not bound.
package pvprotection

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
)

const finalizer = "kubernetes.io/pv-protection"

// New returns the controller.
func New(env controller.Env) controller.Runner {
	api := client.For[*corev1.PersistentVolume](env.Client)
	volumes := informer.For[*corev1.PersistentVolume](env.Informers)
	loop := controller.New("pvprotection", func(ctx context.Context, k controller.Key) (controller.Result, error) {
		v, ok := volumes.Store().Get("", k.Name)
		if !ok {
			return controller.Result{}, nil
		}
		return controller.Protect(ctx, api, v, finalizer, func() (bool, error) { return v.Status.Phase == corev1.VolumeBound, nil })
	}, controller.Options{})
	controller.Watch(loop, volumes, controller.Self)
	return loop
}
