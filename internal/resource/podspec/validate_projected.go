package podspec

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/resource/check"
)

// projected validates the sources that are projected into one directory. No two may have the same path.
func (v *validator) projected(p *check.Path, s *corev1.ProjectedVolumeSource) {
	v.FileMode(p.Child("defaultMode"), s.DefaultMode)
	taken := map[string]bool{}
	take := func(path string, value any) {
		if path == "" {
			return
		}
		if taken[path] {
			v.Invalid(p, value, "conflicting duplicate paths")
		}
		taken[path] = true
	}
	for i := range s.Sources {
		src, at, n := &s.Sources[i], p.Child("sources").Index(i), 0
		keys := func(at *check.Path, name string, items []corev1.KeyToPath) {
			n++
			v.required(at.Child("name"), name)
			for k := range items {
				v.item(at.Child("items").Index(k), &items[k])
				take(items[k].Path, name)
			}
		}
		if src.Secret != nil {
			keys(at.Child("secret"), src.Secret.Name, src.Secret.Items)
		}
		if src.ConfigMap != nil {
			keys(at.Child("configMap"), src.ConfigMap.Name, src.ConfigMap.Items)
		}
		if src.DownwardAPI != nil {
			n++
			for k := range src.DownwardAPI.Items {
				d := &src.DownwardAPI.Items[k]
				v.downwardFile(at.Child("downwardAPI"), d)
				take(d.Path, d.Path)
			}
		}
		if src.ServiceAccountToken != nil {
			n++
			v.tokenSource(p, at.Child("serviceAccountToken"), src.ServiceAccountToken)
		}
		if src.ClusterTrustBundle != nil {
			n++
			v.bundleSource(at.Child("clusterTrustBundle"), src.ClusterTrustBundle)
			take(src.ClusterTrustBundle.Path, src.ClusterTrustBundle.Path)
		}
		if src.PodCertificate != nil {
			n++
			v.certificateSource(at.Child("podCertificate"), src.PodCertificate, take)
		}
		if n > 1 {
			v.Forbidden(at, "may not specify more than 1 volume type per source")
		}
	}
}

func (v *validator) tokenSource(volume, p *check.Path, t *corev1.ServiceAccountTokenProjection) {
	if s := t.ExpirationSeconds; s != nil {
		if *s < 600 {
			v.Invalid(p.Child("expirationSeconds"), *s, "may not specify a duration less than 10 minutes")
		}
		if *s > 1<<32 {
			v.Invalid(p.Child("expirationSeconds"), *s, "may not specify a duration larger than 2^32 seconds")
		}
	}
	if t.Path == "" {
		v.Required(volume.Child("path"), "")
	} else {
		v.FilePath(volume.Child("path"), t.Path)
	}
}

func (v *validator) bundleSource(p *check.Path, b *corev1.ClusterTrustBundleProjection) {
	switch {
	case b.Name != nil && b.SignerName != nil:
		v.Invalid(p, b, "only one of name and signerName may be used")
	case b.Name != nil:
		v.checkNonEmptyName(p.Child("name"), *b.Name, "must be a valid object name")
		for _, msg := range BundleName(*b.Name, false) {
			v.Invalid(p.Child("name"), *b.Name, "not a valid clustertrustbundlename: "+msg)
		}
		if b.LabelSelector != nil {
			v.Invalid(p.Child("labelSelector"), b.LabelSelector, "labelSelector must be unset if name is specified")
		}
	case b.SignerName != nil:
		v.checkNonEmptyName(p.Child("signerName"), *b.SignerName, "must be a valid signer name")
		SignerName(v.Errors, p.Child("signerName"), *b.SignerName)
		v.Selector(p.Child("labelSelector"), b.LabelSelector)
	default:
		v.Required(p, "either name or signerName must be specified")
	}
	v.required(p.Child("path"), b.Path)
	v.FilePath(p.Child("path"), b.Path)
}

func (v *validator) checkNonEmptyName(p *check.Path, name, why string) {
	if name == "" {
		v.Required(p, why)
	}
}

// Bounds of a pod certificate's lifetime, in seconds. Kubernetes' own signers allow a day at most.
const (
	minCertificate           = 3600
	maxCertificate           = 91 * 86400
	maxKubernetesCertificate = 86400
)

func (v *validator) certificateSource(p *check.Path, c *corev1.PodCertificateProjection, take func(string, any)) {
	SignerName(v.Errors, p.Child("signerName"), c.SignerName)
	check.Known(v.Errors, p.Child("keyType"), c.KeyType, "RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519")
	if s := c.MaxExpirationSeconds; s != nil {
		at, limit := p.Child("maxExpirationSeconds"), int32(maxCertificate)
		if strings.HasPrefix(c.SignerName, "kubernetes.io/") {
			limit = maxKubernetesCertificate
		}
		if *s < minCertificate {
			v.Invalid(at, *s, "if provided, maxExpirationSeconds must be >= 3600")
		}
		if *s > limit {
			v.Invalid(at, *s, fmt.Sprintf("if provided, maxExpirationSeconds must be <= %d", limit))
		}
	}
	n := 0
	file := func(name, path string) {
		if path != "" {
			n++
			v.FilePath(p.Child(name), path)
			take(path, path)
		}
	}
	file("credentialBundlePath", c.CredentialBundlePath)
	file("keyPath", c.KeyPath)
	file("certificateChainPath", c.CertificateChainPath)
	if n == 0 {
		v.Required(p, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath")
	}
}
