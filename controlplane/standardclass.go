package controlplane

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"fairlead.dev/controller/persistentvolume"
	"fairlead.dev/storage"
)

// firstRevision is the highest revision of a store that nobody has written to.
const firstRevision storage.Revision = 1

// firstObjects are what a cluster with simulated nodes gets once, when its store is
// new: whoever deletes one of them later is not contradicted by the next start.
//
// The default storage class gives claims simulated volumes, as the local clusters that
// people know come with one.
func firstObjects(o Options, at storage.Revision) []runtime.Object {
	if o.Nodes == 0 || at > firstRevision {
		return nil
	}
	return []runtime.Object{&storagev1.StorageClass{
		TypeMeta: metav1.TypeMeta{APIVersion: storagev1.SchemeGroupVersion.String(), Kind: "StorageClass"},
		ObjectMeta: metav1.ObjectMeta{
			Name:        "standard",
			Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"},
		},
		Provisioner:          persistentvolume.Provisioner,
		ReclaimPolicy:        ptr.To(corev1.PersistentVolumeReclaimDelete),
		VolumeBindingMode:    ptr.To(storagev1.VolumeBindingImmediate),
		AllowVolumeExpansion: ptr.To(true),
	}}
}
