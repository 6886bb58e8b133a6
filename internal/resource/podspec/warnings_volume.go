package podspec

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/resource/check"
)

// volumes warns of deprecated and removed volume types, and of files with the same path.
func (w *warner) volumes(p *check.Path) {
	for i := range w.spec.Volumes {
		v := &w.spec.Volumes[i]
		at := p.Index(i)
		for _, old := range []struct {
			there     bool
			name, why string
		}{
			{v.PhotonPersistentDisk != nil, "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"},
			{v.GitRepo != nil, "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"},
			{v.ScaleIO != nil, "scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
			{v.Flocker != nil, "flocker", "deprecated in v1.22, non-functional in v1.25+"},
			{v.StorageOS != nil, "storageOS", "deprecated in v1.22, non-functional in v1.25+"},
			{v.Quobyte != nil, "quobyte", "deprecated in v1.22, non-functional in v1.25+"},
			{v.Glusterfs != nil, "glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
			{v.CephFS != nil, "cephfs", "deprecated in v1.28, non-functional in v1.31+"},
			{v.RBD != nil, "rbd", "deprecated in v1.28, non-functional in v1.31+"},
		} {
			if old.there {
				w.warn("%s: %s", at.Child(old.name).String(), old.why)
			}
		}
		if e := v.Ephemeral; e != nil && e.VolumeClaimTemplate != nil {
			w.list = append(w.list, ClaimWarnings(at.Child("ephemeral", "volumeClaimTemplate", "spec"), &e.VolumeClaimTemplate.Spec)...)
		}
	}
	for i := range w.spec.Volumes {
		w.files(&w.spec.Volumes[i])
	}
}

// ClaimWarnings returns warnings about the spec of a volume claim.
func ClaimWarnings(p *check.Path, s *corev1.PersistentVolumeClaimSpec) []string {
	var w warner
	storage := func(p *check.Path, list corev1.ResourceList) {
		if q, ok := list[corev1.ResourceStorage]; ok && q.MilliValue()%1000 != 0 {
			w.warn("%s: fractional byte value %q is invalid, must be an integer", p.Key("storage").String(), q.String())
		}
	}
	storage(p.Child("resources", "requests"), s.Resources.Requests)
	storage(p.Child("resources", "limits"), s.Resources.Limits)
	return w.list
}

// file is a file in a volume, with its source.
type file struct{ path, from string }

func (f file) String() string {
	if f.from != "" {
		return fmt.Sprintf("%q (%s)", f.path, f.from)
	}
	return fmt.Sprintf("%q", f.path)
}

// overlap reports whether two paths are equal or one is a parent of the other.
func overlap(a, b file) bool {
	return strings.HasPrefix(a.path+"/", b.path+"/") || strings.HasPrefix(b.path+"/", a.path+"/")
}

// overlaps warns of conflicting files, and returns all of them.
func (w *warner) overlaps(volume, what string, all, more []file) []file {
	for _, f := range more {
		f.path = strings.TrimRight(f.path, "/")
		for _, other := range all {
			if f.path != "" && other.path != "" && overlap(f, other) {
				w.warn("volume %q (%s): overlapping paths: %s with %s", volume, what, f, other)
			}
		}
		all = append(all, f)
	}
	return all
}

func keys(items []corev1.KeyToPath, from string) (out []file) {
	for _, it := range items {
		out = append(out, file{it.Path, from})
	}
	return out
}

func downward(items []corev1.DownwardAPIVolumeFile, from string) (out []file) {
	for _, it := range items {
		out = append(out, file{it.Path, from})
	}
	return out
}

// files warns of conflicting files in one volume.
func (w *warner) files(v *corev1.Volume) {
	switch {
	case v.ConfigMap != nil:
		w.overlaps(v.Name, fmt.Sprintf("ConfigMap %q", v.ConfigMap.Name), nil, keys(v.ConfigMap.Items, ""))
	case v.Secret != nil:
		w.overlaps(v.Name, fmt.Sprintf("Secret %q", v.Secret.SecretName), nil, keys(v.Secret.Items, ""))
	case v.DownwardAPI != nil:
		w.overlaps(v.Name, "DownwardAPI", nil, downward(v.DownwardAPI.Items, ""))
	case v.Projected != nil:
		var all []file
		for i := range v.Projected.Sources {
			s := &v.Projected.Sources[i]
			if *s == (corev1.VolumeProjection{}) {
				w.warn("volume %q (Projected) has no sources provided", v.Name)
			}
			all = w.overlaps(v.Name, "Projected", all, projected(s))
		}
	}
}

// projected returns the files of one source.
func projected(s *corev1.VolumeProjection) []file {
	switch {
	case s.ConfigMap != nil:
		return keys(s.ConfigMap.Items, fmt.Sprintf("ConfigMap %q", s.ConfigMap.Name))
	case s.Secret != nil:
		return keys(s.Secret.Items, fmt.Sprintf("Secret %q", s.Secret.Name))
	case s.DownwardAPI != nil:
		return downward(s.DownwardAPI.Items, "DownwardAPI")
	case s.ServiceAccountToken != nil:
		return []file{{s.ServiceAccountToken.Path, "ServiceAccountToken"}}
	case s.ClusterTrustBundle != nil:
		name := s.ClusterTrustBundle.Name
		if name == nil {
			name = s.ClusterTrustBundle.SignerName
		}
		if name == nil {
			return nil
		}
		return []file{{s.ClusterTrustBundle.Path, fmt.Sprintf("ClusterTrustBundle %q", *name)}}
	case s.PodCertificate != nil:
		c := s.PodCertificate
		return []file{{c.CertificateChainPath, "PodCertificate chain"}, {c.KeyPath, "PodCertificate key"}, {c.CredentialBundlePath, "PodCertificate credential bundle"}}
	}
	return nil
}
