// Package vacprotection protects volume attributes classes in use: a class has the finalizer
// kubernetes.io/vac-protection, from its creation or from this controller, which is removed when the class is
// terminating and no claim or volume names it.
//
// Before the finalizer is removed, the server is asked for claims and volumes, because the informers may be behind.
package vacprotection

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
)

const (
	finalizer = "kubernetes.io/vac-protection"
	byClass   = "volume attributes class"
)

type protector struct {
	classes controller.Objects[*storagev1.VolumeAttributesClass]
	claims  controller.Objects[*corev1.PersistentVolumeClaim]
	volumes controller.Objects[*corev1.PersistentVolume]
}

// New returns the controller.
func New(env controller.Env) controller.Runner {
	p := &protector{
		classes: controller.ObjectsOf[*storagev1.VolumeAttributesClass](env),
		claims:  controller.ObjectsOf[*corev1.PersistentVolumeClaim](env),
		volumes: controller.ObjectsOf[*corev1.PersistentVolume](env),
	}
	p.claims.Index(byClass, ofClaim)
	p.volumes.Index(byClass, ofVolume)
	loop := controller.New("vacprotection", controller.ByObject(p.classes, p.reconcile), controller.Options{})
	return loop.Watch(
		controller.For(p.classes),
		leaves(loop, p.claims, ofClaim),
		leaves(loop, p.volumes, ofVolume),
	)
}

// leaves enqueues the classes that an object has no longer.
func leaves[T client.Object](loop *controller.Controller, from controller.Objects[T], of func(T) []string) controller.Source {
	wake := func(was, now []string, because T) {
		for _, name := range was {
			if !slices.Contains(now, name) {
				loop.EnqueueFor(controller.Key{Name: name}, because)
			}
		}
	}
	return controller.Handles(from, informer.Handler[T]{
		Update: func(old, obj T) { wake(of(old), of(obj), obj) },
		Delete: func(obj T) { wake(of(obj), nil, obj) },
	})
}

// ofClaim returns the classes that a claim has, requests or is being changed to.
func ofClaim(c *corev1.PersistentVolumeClaim) []string {
	names := named(c.Spec.VolumeAttributesClassName, c.Status.CurrentVolumeAttributesClassName)
	if m := c.Status.ModifyVolumeStatus; m != nil {
		names = append(names, named(&m.TargetVolumeAttributesClassName)...)
	}
	return names
}

func ofVolume(v *corev1.PersistentVolume) []string { return named(v.Spec.VolumeAttributesClassName) }

func named(list ...*string) (names []string) {
	for _, s := range list {
		if s != nil && *s != "" {
			names = append(names, *s)
		}
	}
	return names
}

func (p *protector) reconcile(ctx context.Context, c *storagev1.VolumeAttributesClass) (controller.Result, error) {
	return controller.Protect(ctx, p.classes.API, c, finalizer, func() (bool, error) { return p.used(ctx, c.Name) })
}

func (p *protector) used(ctx context.Context, name string) (bool, error) {
	if len(p.claims.Store().ByIndex(byClass, name)) > 0 || len(p.volumes.Store().ByIndex(byClass, name)) > 0 {
		return true, nil
	}
	claims, err := p.claims.API.List(ctx)
	if err != nil {
		return false, err
	}
	for _, c := range claims.Items {
		if slices.Contains(ofClaim(c), name) {
			return true, nil
		}
	}
	volumes, err := p.volumes.API.List(ctx)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(volumes.Items, func(v *corev1.PersistentVolume) bool { return slices.Contains(ofVolume(v), name) }), nil
}
