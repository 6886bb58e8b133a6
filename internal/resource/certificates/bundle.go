package certificates

import (
	"cmp"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/podspec"
)

var bundleTable = resource.TableOf(func(b *certificatesv1.ClusterTrustBundle) []any {
	return []any{b.Name, cmp.Or(b.Spec.SignerName, resource.None)}
}, resource.NameColumn, resource.Text("SignerName", "Whose certificates the bundle vouches for."))

var bundleStrategy = resource.Rules[*certificatesv1.ClusterTrustBundle]{
	Validate: validateBundle,
	ValidateUpdate: func(b, old *certificatesv1.ClusterTrustBundle) field.ErrorList {
		var f check.Errors
		f.Same(check.At("spec", "signerName"), b.Spec.SignerName, old.Spec.SignerName)
		f.Add(validateBundle(b)...)
		return f.List()
	},
	RequireResourceVersion: true,
}.Strategy()

func validateBundle(b *certificatesv1.ClusterTrustBundle) field.ErrorList {
	var f check.Errors
	p := check.At("spec")
	name := check.At("metadata", "name")
	if s := b.Spec.SignerName; s != "" {
		podspec.SignerName(&f, p.Child("signerName"), s)
		if want := strings.ReplaceAll(s, "/", ":") + ":"; !strings.HasPrefix(b.Name, want) {
			f.Invalid(name, b.Name, fmt.Sprintf("ClusterTrustBundle for signerName %s must be named with prefix %s", s, want))
		}
	} else if strings.Contains(b.Name, ":") {
		f.Invalid(name, b.Name, "ClusterTrustBundle without signer name must not have \":\" in its name")
	}
	bundle(&f, p.Child("trustBundle"), b.Spec.TrustBundle)
	return f.List()
}

func bundle(f *check.Errors, p *check.Path, text string) {
	const hidden = "<value omitted>"
	seen := map[string]int{}
	for i, rest := 0, []byte(text); ; i++ {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		at := fmt.Sprintf("entry %d", i)
		if block.Type != "CERTIFICATE" {
			f.Invalid(p, hidden, at+fmt.Sprintf(" has bad block type: %v", block.Type))
			return
		}
		if len(block.Headers) > 0 {
			f.Invalid(p, hidden, at+" has PEM block headers")
			return
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			f.Invalid(p, hidden, at+" does not parse as X.509")
			return
		}
		if !cert.IsCA {
			f.Invalid(p, hidden, at+" does not have CA bit set")
			return
		}
		if first, twice := seen[string(cert.Raw)]; twice {
			f.Invalid(p, hidden, fmt.Sprintf("trust bundle has duplicate block (indices [%d %d])", first, i))
		}
		seen[string(cert.Raw)] = i
	}
	if len(seen) == 0 {
		f.Invalid(p, hidden, "at least one trust anchor must be provided")
	}
}

var podRequestTable = resource.TableOf(func(r *certificatesv1.PodCertificateRequest) []any {
	state := "Pending"
	for _, c := range r.Status.Conditions {
		switch c.Type {
		case certificatesv1.PodCertificateRequestConditionTypeIssued, certificatesv1.PodCertificateRequestConditionTypeDenied,
			certificatesv1.PodCertificateRequestConditionTypeFailed:
			state = c.Type
		}
	}
	return []any{
		r.Name, r.Spec.PodName, r.Spec.ServiceAccountName, string(r.Spec.NodeName), r.Spec.SignerName, state,
		labels.FormatLabels(r.Spec.UnverifiedUserAnnotations),
	}
},
	resource.NameColumn,
	resource.Text("PodName", "The pod that the certificate is for."),
	resource.Text("ServiceAccountName", "The pod's service account."),
	resource.Text("NodeName", "The pod's node."),
	resource.Text("SignerName", "Who is asked to sign."),
	resource.Text("State", "What has come of the request."),
	resource.Text("UnverifiedUserAnnotations", "What the pod says of itself."),
)

func podRequestStrategy() resource.Strategy {
	r := resource.SpecAndStatus(func(r *certificatesv1.PodCertificateRequest) (*certificatesv1.PodCertificateRequestSpec, *certificatesv1.PodCertificateRequestStatus) {
		return &r.Spec, &r.Status
	})
	keep := r.PrepareForStatusUpdate
	r.PrepareForStatusUpdate = func(r, old *certificatesv1.PodCertificateRequest) {
		resource.RestoreMeta(r, old)
		keep(r, old)
	}
	r.Default = func(r *certificatesv1.PodCertificateRequest) {
		if r.Spec.MaxExpirationSeconds == nil {
			day := int32(86400)
			r.Spec.MaxExpirationSeconds = &day
		}
	}
	r.Validate = func(r *certificatesv1.PodCertificateRequest) field.ErrorList {
		var f check.Errors
		p, s := check.At("spec"), &r.Spec
		podspec.SignerName(&f, p.Child("signerName"), s.SignerName)
		f.Subdomain(p.Child("podName"), s.PodName)
		f.Each(p.Child("serviceAccountName"), s.ServiceAccountName, apivalidation.ValidateServiceAccountName(s.ServiceAccountName, false))
		f.Subdomain(p.Child("nodeName"), string(s.NodeName))
		if s.PodUID == "" {
			f.Required(p.Child("podUID"), "")
		}
		if s.ServiceAccountUID == "" {
			f.Required(p.Child("serviceAccountUID"), "")
		}
		if s.NodeUID == "" {
			f.Required(p.Child("nodeUID"), "")
		}
		if n := s.MaxExpirationSeconds; n != nil && *n < 3600 {
			f.Invalid(p.Child("maxExpirationSeconds"), *n, "must be in the range [3600, 7862400]")
		}
		return f.List()
	}
	r.ValidateUpdate = func(r, old *certificatesv1.PodCertificateRequest) field.ErrorList {
		var f check.Errors
		f.Same(check.At("spec"), r.Spec, old.Spec)
		return f.List()
	}
	r.RequireResourceVersion = true
	return r.Strategy()
}
