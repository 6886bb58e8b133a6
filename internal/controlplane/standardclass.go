package controlplane

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/node/dependencies"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// firstObjects are created once, when the store of a cluster with simulated nodes is new:
// if a user deletes one, the next start does not create it again.
//
// The default storage class gives claims simulated volumes, as local clusters usually have
// one.
func firstObjects(ctx context.Context, o Options, s storage.Store) ([]runtime.Object, error) {
	if !o.simulates() {
		return nil, nil
	}
	// The store is new if it lacks the namespace that every start creates and no user can
	// delete.
	res, err := s.Range(ctx, storage.RangeRequest{Start: watchcache.Root + "namespaces/kube-system", CountOnly: true})
	if err != nil || res.Count > 0 {
		return nil, err
	}
	return []runtime.Object{&storagev1.StorageClass{
		TypeMeta: metav1.TypeMeta{APIVersion: storagev1.SchemeGroupVersion.String(), Kind: "StorageClass"},
		ObjectMeta: metav1.ObjectMeta{
			Name:        "standard",
			Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"},
		},
		Provisioner:          dependencies.Simulated,
		ReclaimPolicy:        ptr.To(corev1.PersistentVolumeReclaimDelete),
		VolumeBindingMode:    ptr.To(storagev1.VolumeBindingImmediate),
		AllowVolumeExpansion: ptr.To(true),
	}}, nil
}
