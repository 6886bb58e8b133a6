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
	classesAPI client.Resource[*storagev1.VolumeAttributesClass]
	claimsAPI  client.Resource[*corev1.PersistentVolumeClaim]
	volumesAPI client.Resource[*corev1.PersistentVolume]
	classes    *informer.Informer[*storagev1.VolumeAttributesClass]
	claims     *informer.Informer[*corev1.PersistentVolumeClaim]
	volumes    *informer.Informer[*corev1.PersistentVolume]
}

// New returns the controller.
func New(env controller.Env) controller.Runner {
	p := &protector{
		classesAPI: client.For[*storagev1.VolumeAttributesClass](env.Client),
		claimsAPI:  client.For[*corev1.PersistentVolumeClaim](env.Client),
		volumesAPI: client.For[*corev1.PersistentVolume](env.Client),
		classes:    informer.For[*storagev1.VolumeAttributesClass](env.Informers),
		claims:     informer.For[*corev1.PersistentVolumeClaim](env.Informers),
		volumes:    informer.For[*corev1.PersistentVolume](env.Informers),
	}
	p.claims.Index(byClass, ofClaim)
	p.volumes.Index(byClass, ofVolume)
	loop := controller.New("vacprotection", p.reconcile, controller.Options{})
	controller.Watch(loop, p.classes, controller.Self)
	wake := func(was, now []string, because client.Object) {
		for _, name := range was {
			if !slices.Contains(now, name) {
				loop.EnqueueFor(controller.Key{Name: name}, because)
			}
		}
	}
	controller.WatchFunc(loop, p.claims, informer.Handler[*corev1.PersistentVolumeClaim]{
		Update: func(old, c *corev1.PersistentVolumeClaim) { wake(ofClaim(old), ofClaim(c), c) },
		Delete: func(c *corev1.PersistentVolumeClaim) { wake(ofClaim(c), nil, c) },
	})
	controller.WatchFunc(loop, p.volumes, informer.Handler[*corev1.PersistentVolume]{
		Update: func(old, v *corev1.PersistentVolume) { wake(ofVolume(old), ofVolume(v), v) },
		Delete: func(v *corev1.PersistentVolume) { wake(ofVolume(v), nil, v) },
	})
	return loop
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

func (p *protector) reconcile(ctx context.Context, k controller.Key) (controller.Result, error) {
	c, ok := p.classes.Store().Get("", k.Name)
	if !ok {
		return controller.Result{}, nil
	}
	return controller.Protect(ctx, p.classesAPI, c, finalizer, func() (bool, error) { return p.used(ctx, k.Name) })
}

func (p *protector) used(ctx context.Context, name string) (bool, error) {
	if len(p.claims.Store().ByIndex(byClass, name)) > 0 || len(p.volumes.Store().ByIndex(byClass, name)) > 0 {
		return true, nil
	}
	claims, err := p.claimsAPI.List(ctx)
	if err != nil {
		return false, err
	}
	for _, c := range claims.Items {
		if slices.Contains(ofClaim(c), name) {
			return true, nil
		}
	}
	volumes, err := p.volumesAPI.List(ctx)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(volumes.Items, func(v *corev1.PersistentVolume) bool { return slices.Contains(ofVolume(v), name) }), nil
}
