package admission

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// StorageObjectInUseProtection gives volumes and claims the finalizers that keep
// them while they are in use. The controllers pv-protection and pvc-protection take
// them off; where nobody runs those, a volume that is deleted stays.
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
	}
	return nil
}

func withFinalizer(list []string, f string) []string {
	if slices.Contains(list, f) {
		return list
	}
	return append(list, f)
}
