package controlplane

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/node/needs"
	"fairlead.dev/storage"
	"fairlead.dev/watchcache"
)

// firstObjects are what a cluster with simulated nodes gets once, when its store is
// new: whoever deletes one of them later is not contradicted by the next start.
//
// The default storage class gives claims simulated volumes, as the local clusters that
// people know come with one.
func firstObjects(ctx context.Context, o Options, s storage.Store) ([]runtime.Object, error) {
	if o.Nodes == 0 {
		return nil, nil
	}
	// The namespace that every start makes and nobody can delete tells a new store.
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
		Provisioner:          needs.Simulated,
		ReclaimPolicy:        ptr.To(corev1.PersistentVolumeReclaimDelete),
		VolumeBindingMode:    ptr.To(storagev1.VolumeBindingImmediate),
		AllowVolumeExpansion: ptr.To(true),
	}}, nil
}
