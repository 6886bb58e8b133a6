// Package pvprotection keeps volumes that are bound: a volume has the finalizer
// kubernetes.io/pv-protection, from its creation or from here, and loses it when it
// is told to go and is not bound.
package pvprotection

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
)

const finalizer = "kubernetes.io/pv-protection"

// New returns the controller.
func New(env controller.Env) controller.Runner {
	api := client.For[*corev1.PersistentVolume](env.Client)
	volumes := informer.In[*corev1.PersistentVolume](env.Informers)
	loop := controller.New("pvprotection", func(ctx context.Context, k controller.Key) (controller.Result, error) {
		v, ok := volumes.Store().Get("", k.Name)
		if !ok {
			return controller.Result{}, nil
		}
		has, goes := slices.Contains(v.Finalizers, finalizer), v.DeletionTimestamp != nil
		if has != goes || goes && v.Status.Phase == corev1.VolumeBound {
			return controller.Result{}, nil
		}
		v = v.DeepCopy()
		if goes {
			v.Finalizers = slices.DeleteFunc(v.Finalizers, func(f string) bool { return f == finalizer })
		} else {
			v.Finalizers = append(v.Finalizers, finalizer)
		}
		_, err := api.Update(ctx, v)
		if apierrors.IsNotFound(err) {
			err = nil
		}
		return controller.Result{}, err
	}, controller.Options{})
	controller.Watch(loop, volumes, controller.Self)
	return loop
}
