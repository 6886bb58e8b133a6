package podspec

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
)

func defaultVolume(v *corev1.Volume) {
	if (v.VolumeSource == corev1.VolumeSource{}) {
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	s := &v.VolumeSource
	if s.Secret != nil {
		resource.SetDefault(&s.Secret.DefaultMode, corev1.SecretVolumeSourceDefaultMode)
	}
	if s.ConfigMap != nil {
		resource.SetDefault(&s.ConfigMap.DefaultMode, corev1.ConfigMapVolumeSourceDefaultMode)
	}
	if s.DownwardAPI != nil {
		resource.SetDefault(&s.DownwardAPI.DefaultMode, corev1.DownwardAPIVolumeSourceDefaultMode)
		for i := range s.DownwardAPI.Items {
			defaultFieldRef(s.DownwardAPI.Items[i].FieldRef)
		}
	}
	if s.Projected != nil {
		defaultProjected(s.Projected)
	}
	if s.Ephemeral != nil && s.Ephemeral.VolumeClaimTemplate != nil {
		DefaultClaim(&s.Ephemeral.VolumeClaimTemplate.Spec)
	}
	if s.Image != nil && s.Image.PullPolicy == "" {
		s.Image.PullPolicy = pullPolicy(s.Image.Reference)
	}
	defaultHostPath(s.HostPath)
	defaultAzureDisk(s.AzureDisk)
	if s.ISCSI != nil {
		s.ISCSI.ISCSIInterface = cmp.Or(s.ISCSI.ISCSIInterface, "default")
	}
	if s.RBD != nil {
		s.RBD.RBDPool = cmp.Or(s.RBD.RBDPool, "rbd")
		s.RBD.RadosUser = cmp.Or(s.RBD.RadosUser, "admin")
		s.RBD.Keyring = cmp.Or(s.RBD.Keyring, "/etc/ceph/keyring")
	}
	if s.ScaleIO != nil {
		s.ScaleIO.StorageMode = cmp.Or(s.ScaleIO.StorageMode, "ThinProvisioned")
		s.ScaleIO.FSType = cmp.Or(s.ScaleIO.FSType, "xfs")
	}
}

// DefaultVolumeSource sets the defaults of the source of a persistent volume.
func DefaultVolumeSource(s *corev1.PersistentVolumeSource) {
	defaultHostPath(s.HostPath)
	defaultAzureDisk(s.AzureDisk)
	if s.ISCSI != nil {
		s.ISCSI.ISCSIInterface = cmp.Or(s.ISCSI.ISCSIInterface, "default")
	}
	if s.RBD != nil {
		s.RBD.RBDPool = cmp.Or(s.RBD.RBDPool, "rbd")
		s.RBD.RadosUser = cmp.Or(s.RBD.RadosUser, "admin")
		s.RBD.Keyring = cmp.Or(s.RBD.Keyring, "/etc/ceph/keyring")
	}
	if s.ScaleIO != nil {
		s.ScaleIO.StorageMode = cmp.Or(s.ScaleIO.StorageMode, "ThinProvisioned")
		s.ScaleIO.FSType = cmp.Or(s.ScaleIO.FSType, "xfs")
	}
}

func defaultHostPath(h *corev1.HostPathVolumeSource) {
	if h != nil && h.Type == nil {
		h.Type = ptr.To(corev1.HostPathUnset)
	}
}

// DefaultClaim sets the defaults of the spec of a volume claim.
func DefaultClaim(s *corev1.PersistentVolumeClaimSpec) {
	resource.SetDefault(&s.VolumeMode, corev1.PersistentVolumeFilesystem)
	RoundUp(s.Resources.Limits)
	RoundUp(s.Resources.Requests)
}

func defaultAzureDisk(d *corev1.AzureDiskVolumeSource) {
	if d == nil {
		return
	}
	resource.SetDefault(&d.CachingMode, corev1.AzureDataDiskCachingReadWrite)
	resource.SetDefault(&d.FSType, "ext4")
	resource.SetDefault(&d.ReadOnly, false)
	resource.SetDefault(&d.Kind, corev1.AzureSharedBlobDisk)
}

func defaultProjected(p *corev1.ProjectedVolumeSource) {
	resource.SetDefault(&p.DefaultMode, corev1.ProjectedVolumeSourceDefaultMode)
	for i := range p.Sources {
		s := &p.Sources[i]
		if s.DownwardAPI != nil {
			for k := range s.DownwardAPI.Items {
				defaultFieldRef(s.DownwardAPI.Items[k].FieldRef)
			}
		}
		if s.ServiceAccountToken != nil && s.ServiceAccountToken.ExpirationSeconds == nil {
			s.ServiceAccountToken.ExpirationSeconds = ptr.To[int64](3600)
		}
		if s.PodCertificate != nil && s.PodCertificate.MaxExpirationSeconds == nil {
			s.PodCertificate.MaxExpirationSeconds = ptr.To[int32](86400)
		}
	}
}
