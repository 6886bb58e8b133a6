package core

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/podspec"
)

// volumeWarnings reports deprecated features of a volume.
func volumeWarnings(v *corev1.PersistentVolume) (list []string) {
	for _, old := range []struct{ key, why string }{
		{corev1.BetaStorageClassAnnotation, `deprecated since v1.8; use "storageClassName" attribute instead`},
		{"volume.beta.kubernetes.io/mount-options", `deprecated since v1.31; use "mountOptions" attribute instead`},
	} {
		if _, ok := v.Annotations[old.key]; ok {
			list = append(list, fmt.Sprintf("metadata.annotations[%s]: %s", old.key, old.why))
		}
	}
	s, p := &v.Spec, check.At("spec")
	if s.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle {
		list = append(list, "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.")
	}
	if a := s.NodeAffinity; a != nil && a.Required != nil {
		for i := range a.Required.NodeSelectorTerms {
			at := p.Child("nodeAffinity", "required", "nodeSelectorTerms").Index(i)
			list = append(list, podspec.TermWarnings(at, &a.Required.NodeSelectorTerms[i])...)
		}
	}
	for _, old := range []struct {
		there     bool
		name, why string
	}{
		{s.CephFS != nil, "cephfs", "deprecated in v1.28, non-functional in v1.31+"},
		{s.PhotonPersistentDisk != nil, "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"},
		{s.ScaleIO != nil, "scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
		{s.StorageOS != nil, "storageOS", "deprecated in v1.22, non-functional in v1.25+"},
		{s.Glusterfs != nil, "glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
		{s.RBD != nil, "rbd", "deprecated in v1.28, non-functional in v1.31+"},
	} {
		if old.there {
			list = append(list, fmt.Sprintf("%s: %s", p.Child(old.name), old.why))
		}
	}
	return list
}
