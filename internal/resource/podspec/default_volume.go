package podspec

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func defaultVolume(v *corev1.Volume) {
	if (v.VolumeSource == corev1.VolumeSource{}) {
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	s := &v.VolumeSource
	if s.Secret != nil {
		unsetMode(&s.Secret.DefaultMode, corev1.SecretVolumeSourceDefaultMode)
	}
	if s.ConfigMap != nil {
		unsetMode(&s.ConfigMap.DefaultMode, corev1.ConfigMapVolumeSourceDefaultMode)
	}
	if s.DownwardAPI != nil {
		unsetMode(&s.DownwardAPI.DefaultMode, corev1.DownwardAPIVolumeSourceDefaultMode)
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
		unset(&s.ISCSI.ISCSIInterface, "default")
	}
	if s.RBD != nil {
		unset(&s.RBD.RBDPool, "rbd")
		unset(&s.RBD.RadosUser, "admin")
		unset(&s.RBD.Keyring, "/etc/ceph/keyring")
	}
	if s.ScaleIO != nil {
		unset(&s.ScaleIO.StorageMode, "ThinProvisioned")
		unset(&s.ScaleIO.FSType, "xfs")
	}
}

// DefaultVolumeSource sets the defaults of the source of a persistent volume.
func DefaultVolumeSource(s *corev1.PersistentVolumeSource) {
	defaultHostPath(s.HostPath)
	defaultAzureDisk(s.AzureDisk)
	if s.ISCSI != nil {
		unset(&s.ISCSI.ISCSIInterface, "default")
	}
	if s.RBD != nil {
		unset(&s.RBD.RBDPool, "rbd")
		unset(&s.RBD.RadosUser, "admin")
		unset(&s.RBD.Keyring, "/etc/ceph/keyring")
	}
	if s.ScaleIO != nil {
		unset(&s.ScaleIO.StorageMode, "ThinProvisioned")
		unset(&s.ScaleIO.FSType, "xfs")
	}
}

func defaultHostPath(h *corev1.HostPathVolumeSource) {
	if h != nil && h.Type == nil {
		h.Type = ptr.To(corev1.HostPathUnset)
	}
}

// DefaultClaim sets the defaults of the spec of a volume claim.
func DefaultClaim(s *corev1.PersistentVolumeClaimSpec) {
	if s.VolumeMode == nil {
		s.VolumeMode = ptr.To(corev1.PersistentVolumeFilesystem)
	}
	RoundUp(s.Resources.Limits)
	RoundUp(s.Resources.Requests)
}

func defaultAzureDisk(d *corev1.AzureDiskVolumeSource) {
	if d == nil {
		return
	}
	if d.CachingMode == nil {
		d.CachingMode = ptr.To(corev1.AzureDataDiskCachingReadWrite)
	}
	if d.FSType == nil {
		d.FSType = ptr.To("ext4")
	}
	if d.ReadOnly == nil {
		d.ReadOnly = ptr.To(false)
	}
	if d.Kind == nil {
		d.Kind = ptr.To(corev1.AzureSharedBlobDisk)
	}
}

func defaultProjected(p *corev1.ProjectedVolumeSource) {
	unsetMode(&p.DefaultMode, corev1.ProjectedVolumeSourceDefaultMode)
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

func unsetMode(mode **int32, otherwise int32) {
	if *mode == nil {
		*mode = ptr.To(otherwise)
	}
}

func unset(s *string, otherwise string) {
	if *s == "" {
		*s = otherwise
	}
}
