package certificates

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"fmt"
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/podspec"
)

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
	}).KeepMeta()
	r.Default = func(r *certificatesv1.PodCertificateRequest) {
		if r.Spec.MaxExpirationSeconds == nil {
			day := int32(86400)
			r.Spec.MaxExpirationSeconds = &day
		}
	}
	r.Validate = validatePodRequest
	r.ValidateUpdate = func(r, old *certificatesv1.PodCertificateRequest) field.ErrorList {
		var f check.Errors
		f.Same(check.At("spec"), r.Spec, old.Spec)
		return f.List()
	}
	r.ValidateStatusUpdate = func(r, old *certificatesv1.PodCertificateRequest) field.ErrorList {
		return validatePodRequestStatus(r, old, time.Now())
	}
	r.RequireResourceVersion = true
	return r.Strategy()
}

// The limits of a request, in seconds and bytes.
const (
	minExpiration           = 60 * 60
	maxExpiration           = 91 * 24 * 60 * 60
	maxKubernetesExpiration = 24 * 60 * 60 // of a signer of Kubernetes itself
	maxUIDSize              = 128
	maxRequestSize          = 10 << 10
)

func validatePodRequest(r *certificatesv1.PodCertificateRequest) field.ErrorList {
	var f check.Errors
	p, s := check.At("spec"), &r.Spec
	podspec.SignerName(&f, p.Child("signerName"), s.SignerName)
	userAnnotations(&f, p.Child("unverifiedUserAnnotations"), s.UnverifiedUserAnnotations)
	f.Subdomain(p.Child("podName"), s.PodName)
	uid(&f, p.Child("podUID"), s.PodUID)
	f.Each(p.Child("serviceAccountName"), s.ServiceAccountName, apivalidation.ValidateServiceAccountName(s.ServiceAccountName, false))
	uid(&f, p.Child("serviceAccountUID"), s.ServiceAccountUID)
	f.Subdomain(p.Child("nodeName"), string(s.NodeName))
	uid(&f, p.Child("nodeUID"), s.NodeUID)
	if s.MaxExpirationSeconds == nil {
		f.Required(p.Child("maxExpirationSeconds"), "must be set")
		return f.List()
	}
	longest := int32(maxExpiration)
	if domain, _, _ := strings.Cut(s.SignerName, "/"); domain == "kubernetes.io" || strings.HasSuffix(domain, ".kubernetes.io") {
		longest = maxKubernetesExpiration
	}
	if n := *s.MaxExpirationSeconds; n < minExpiration || n > longest {
		f.Invalid(p.Child("maxExpirationSeconds"), n, fmt.Sprintf("must be in the range [%d, %d]", minExpiration, longest))
	}
	if len(s.StubPKCS10Request) == 0 {
		f.Invalid(p, field.OmitValueType{}, "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set")
	} else {
		stubRequest(&f, p.Child("stubPKCS10Request"), s.StubPKCS10Request)
	}
	return f.List()
}

func uid(f *check.Errors, p *check.Path, uid types.UID) {
	if uid == "" {
		f.Invalid(p, uid, "must not be empty")
	}
	if len(uid) > maxUIDSize {
		f.Add(field.TooLong(p.Field(), uid, maxUIDSize))
	}
}

// userAnnotations requires keys with a domain.
func userAnnotations(f *check.Errors, p *check.Path, annotations map[string]string) {
	for key := range annotations {
		f.Add(validation.IsDomainPrefixedKey(p.Field(), strings.ToLower(key))...)
	}
	if apivalidation.ValidateAnnotationsSize(annotations) != nil {
		f.Add(field.TooLong(p.Field(), "", apivalidation.TotalAnnotationSizeLimitB))
	}
}

// stubRequest checks the key and the signature of a PKCS #10 request. Its contents are the signer's concern.
func stubRequest(f *check.Errors, p *check.Path, der []byte) {
	if len(der) > maxRequestSize {
		f.Add(field.TooLong(p.Field(), der, maxRequestSize))
		return
	}
	request, err := x509.ParseCertificateRequest(der)
	if err != nil {
		f.Invalid(p, field.OmitValueType{}, "must be a valid PKCS#10 CSR")
		return
	}
	switch key := request.PublicKey.(type) {
	case ed25519.PublicKey:
	case *ecdsa.PublicKey:
		if key.Curve != elliptic.P256() && key.Curve != elliptic.P384() && key.Curve != elliptic.P521() {
			f.Invalid(p, "curve "+key.Curve.Params().Name, "elliptic public keys must use curve P256, P384, or P521")
			return
		}
	case *rsa.PublicKey:
		if bits := key.Size() * 8; bits != 3072 && bits != 4096 {
			f.Invalid(p, fmt.Sprintf("%d-bit modulus", bits), "RSA keys must have modulus size 3072 or 4096")
			return
		}
	default:
		f.Invalid(p, field.OmitValueType{}, "unknown public key type; supported types are Ed25519, ECDSA, and RSA")
		return
	}
	if request.CheckSignature() != nil {
		f.Invalid(p, field.OmitValueType{}, "invalid signature")
	}
}
