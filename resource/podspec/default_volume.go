package podspec

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func defaultVolume(v *corev1.Volume) {
	if (v.VolumeSource == corev1.VolumeSource{}) {
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	switch s := &v.VolumeSource; {
	case s.Secret != nil:
		unsetMode(&s.Secret.DefaultMode, corev1.SecretVolumeSourceDefaultMode)
	case s.ConfigMap != nil:
		unsetMode(&s.ConfigMap.DefaultMode, corev1.ConfigMapVolumeSourceDefaultMode)
	case s.DownwardAPI != nil:
		unsetMode(&s.DownwardAPI.DefaultMode, corev1.DownwardAPIVolumeSourceDefaultMode)
		for i := range s.DownwardAPI.Items {
			defaultFieldRef(s.DownwardAPI.Items[i].FieldRef)
		}
	case s.Projected != nil:
		defaultProjected(s.Projected)
	case s.HostPath != nil:
		if s.HostPath.Type == nil {
			s.HostPath.Type = ptr.To(corev1.HostPathUnset)
		}
	case s.Ephemeral != nil:
		if t := s.Ephemeral.VolumeClaimTemplate; t != nil {
			DefaultClaim(&t.Spec)
		}
	case s.Image != nil:
		if s.Image.PullPolicy == "" {
			s.Image.PullPolicy = pullPolicy(s.Image.Reference)
		}
	case s.ISCSI != nil:
		s.ISCSI.ISCSIInterface = or(s.ISCSI.ISCSIInterface, "default")
	case s.RBD != nil:
		s.RBD.RBDPool = or(s.RBD.RBDPool, "rbd")
		s.RBD.RadosUser = or(s.RBD.RadosUser, "admin")
		s.RBD.Keyring = or(s.RBD.Keyring, "/etc/ceph/keyring")
	case s.AzureDisk != nil:
		DefaultAzureDisk(s.AzureDisk)
	case s.ScaleIO != nil:
		s.ScaleIO.StorageMode = or(s.ScaleIO.StorageMode, "ThinProvisioned")
		s.ScaleIO.FSType = or(s.ScaleIO.FSType, "xfs")
	}
}

// DefaultClaim fills what the spec of a volume claim leaves out.
func DefaultClaim(s *corev1.PersistentVolumeClaimSpec) {
	if s.VolumeMode == nil {
		s.VolumeMode = ptr.To(corev1.PersistentVolumeFilesystem)
	}
	RoundUp(s.Resources.Limits)
	RoundUp(s.Resources.Requests)
}

// DefaultAzureDisk fills what an Azure disk source leaves out.
func DefaultAzureDisk(d *corev1.AzureDiskVolumeSource) {
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

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
