package admission

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// StorageObjectInUseProtection adds the finalizers that keep volumes, claims and volume attributes classes while
// they are in use. The controllers pv-protection, pvc-protection and volumeattributesclass-protection remove them;
// without these controllers a deleted volume stays.
type StorageObjectInUseProtection struct{}

// Name implements Plugin.
func (StorageObjectInUseProtection) Name() string { return "StorageObjectInUseProtection" }

// Admit implements Mutator.
func (StorageObjectInUseProtection) Admit(_ context.Context, r *Request) error {
	switch {
	case r.on(Create, core("persistentvolumes")):
		v := r.Object.(*corev1.PersistentVolume)
		v.Finalizers = withFinalizer(v.Finalizers, "kubernetes.io/pv-protection")
	case r.on(Create, core("persistentvolumeclaims")):
		c := r.Object.(*corev1.PersistentVolumeClaim)
		c.Finalizers = withFinalizer(c.Finalizers, "kubernetes.io/pvc-protection")
	case r.on(Create, schema.GroupResource{Group: "storage.k8s.io", Resource: "volumeattributesclasses"}):
		c := r.Object.(*storagev1.VolumeAttributesClass)
		c.Finalizers = withFinalizer(c.Finalizers, "kubernetes.io/vac-protection")
	}
	return nil
}

func withFinalizer(list []string, f string) []string {
	if slices.Contains(list, f) {
		return list
	}
	return append(list, f)
}
