package certificates

import (
	"bytes"
	"cmp"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
	"fairlead.dev/internal/resource/podspec"
)

var requestTable = resource.TableOf(func(r *certificatesv1.CertificateSigningRequest) []any {
	lifetime := resource.None
	if s := r.Spec.ExpirationSeconds; s != nil {
		lifetime = duration.HumanDuration(time.Duration(*s) * time.Second)
	}
	return []any{r.Name, resource.AgeOf(r), cmp.Or(r.Spec.SignerName, resource.None), r.Spec.Username, lifetime, requestState(r)}
},
	resource.NameColumn,
	resource.AgeColumn,
	resource.Text("SignerName", "Who is asked to sign."),
	resource.Text("Requestor", "Who asks."),
	resource.Text("RequestedDuration", "How long the certificate should be valid."),
	resource.Text("Condition", "What has come of the request."),
)

func requestState(r *certificatesv1.CertificateSigningRequest) string {
	has := func(t certificatesv1.RequestConditionType) bool { return len(conditionsOf(r, t)) > 0 }
	state := "Pending"
	if has(certificatesv1.CertificateDenied) {
		state = "Denied"
	} else if has(certificatesv1.CertificateApproved) {
		state = "Approved"
	}
	if has(certificatesv1.CertificateFailed) {
		state += ",Failed"
	}
	if len(r.Status.Certificate) > 0 {
		state += ",Issued"
	}
	return state
}

func conditionsOf(r *certificatesv1.CertificateSigningRequest, t certificatesv1.RequestConditionType) []certificatesv1.CertificateSigningRequestCondition {
	var out []certificatesv1.CertificateSigningRequestCondition
	for _, c := range r.Status.Conditions {
		if c.Type == t {
			out = append(out, c)
		}
	}
	return out
}

// requestStrategy returns the strategy of signing requests. Admission records the creator in the spec. An update
// changes only metadata; the approval subresource writes the approval conditions, and the status subresource the
// rest of the status.
func requestStrategy() resource.Strategy {
	r := resource.SpecAndStatus(func(r *certificatesv1.CertificateSigningRequest) (*certificatesv1.CertificateSigningRequestSpec, *certificatesv1.CertificateSigningRequestStatus) {
		return &r.Spec, &r.Status
	})
	r.PrepareForUpdate = func(r, old *certificatesv1.CertificateSigningRequest) { r.Spec, r.Status = old.Spec, old.Status }
	r.PrepareForStatusUpdate = func(r, old *certificatesv1.CertificateSigningRequest) {
		r.Spec = old.Spec
		keepDecision(r, old, certificatesv1.CertificateApproved)
		keepDecision(r, old, certificatesv1.CertificateDenied)
		stampConditions(r, old)
	}
	r.Validate = validateRequest
	r.ValidateUpdate = func(r, old *certificatesv1.CertificateSigningRequest) field.ErrorList {
		return validateRequestUpdate(r, old, false, false)
	}
	r.ValidateStatusUpdate = func(r, old *certificatesv1.CertificateSigningRequest) field.ErrorList {
		return validateRequestUpdate(r, old, false, true)
	}
	return r.Strategy()
}

func approval() resource.Subresource {
	return resource.Subresource{
		Name: "approval", Kind: "CertificateSigningRequest", Verbs: resource.StatusVerbs,
		PrepareForUpdate: func(obj, old runtime.Object) {
			r, was := obj.(*certificatesv1.CertificateSigningRequest), old.(*certificatesv1.CertificateSigningRequest)
			decided := r.Status.Conditions
			r.Spec, r.Status = was.Spec, was.Status
			r.Status.Conditions = decided
			stampConditions(r, was)
		},
		ValidateUpdate: func(obj, old runtime.Object) field.ErrorList {
			return validateRequestUpdate(obj.(*certificatesv1.CertificateSigningRequest), old.(*certificatesv1.CertificateSigningRequest), true, false)
		},
	}
}

func keepDecision(r, old *certificatesv1.CertificateSigningRequest, t certificatesv1.RequestConditionType) {
	was := conditionsOf(old, t)
	if len(conditionsOf(r, t)) != len(was) {
		return
	}
	for i := range r.Status.Conditions {
		if r.Status.Conditions[i].Type == t {
			r.Status.Conditions[i], was = was[0], was[1:]
		}
	}
}

func stampConditions(r, old *certificatesv1.CertificateSigningRequest) {
	now := metav1.Now()
	for i := range r.Status.Conditions {
		c := &r.Status.Conditions[i]
		if c.LastUpdateTime.IsZero() {
			c.LastUpdateTime = now
		}
		if !c.LastTransitionTime.IsZero() {
			continue
		}
		c.LastTransitionTime = now
		for _, was := range old.Status.Conditions {
			if was.Type == c.Type && was.Status == c.Status && !was.LastTransitionTime.IsZero() {
				c.LastTransitionTime = was.LastTransitionTime
				break
			}
		}
	}
}

var usages = []certificatesv1.KeyUsage{
	certificatesv1.UsageAny, certificatesv1.UsageCRLSign, certificatesv1.UsageCertSign, certificatesv1.UsageClientAuth,
	certificatesv1.UsageCodeSigning, certificatesv1.UsageContentCommitment, certificatesv1.UsageDataEncipherment,
	certificatesv1.UsageDecipherOnly, certificatesv1.UsageDigitalSignature, certificatesv1.UsageEmailProtection,
	certificatesv1.UsageEncipherOnly, certificatesv1.UsageIPsecEndSystem, certificatesv1.UsageIPsecTunnel,
	certificatesv1.UsageIPsecUser, certificatesv1.UsageKeyAgreement, certificatesv1.UsageKeyEncipherment,
	certificatesv1.UsageMicrosoftSGC, certificatesv1.UsageNetscapeSGC, certificatesv1.UsageOCSPSigning, certificatesv1.UsageSMIME,
	certificatesv1.UsageServerAuth, certificatesv1.UsageSigning, certificatesv1.UsageTimestamping,
}

func validateRequest(r *certificatesv1.CertificateSigningRequest) field.ErrorList {
	var f check.Errors
	p := check.At("spec")
	if _, err := ParseRequest(r.Spec.Request); err != nil {
		f.Invalid(p.Child("request"), r.Spec.Request, err.Error())
	}
	if len(r.Spec.Usages) == 0 {
		f.Required(p.Child("usages"), "")
	}
	for i, u := range r.Spec.Usages {
		check.Known(&f, p.Child("usages").Index(i), u, usages...)
		if slices.Contains(r.Spec.Usages[:i], u) {
			f.Duplicate(p.Child("usages").Index(i), u)
		}
	}
	if r.Spec.SignerName == "kubernetes.io/legacy-unknown" {
		f.Invalid(p.Child("signerName"), r.Spec.SignerName, "the legacy signerName is not allowed via this API version")
	} else {
		podspec.SignerName(&f, p.Child("signerName"), r.Spec.SignerName)
	}
	if s := r.Spec.ExpirationSeconds; s != nil && *s < 600 {
		f.Invalid(p.Child("expirationSeconds"), *s, "may not specify a duration less than 600 seconds (10 minutes)")
	}
	conditions(&f, check.At("status", "conditions"), r)
	return f.List()
}

// ParseRequest reads the PEM text of a certificate signing request.
func ParseRequest(data []byte) (*x509.CertificateRequest, error) {
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	return x509.ParseCertificateRequest(block.Bytes)
}

func conditions(f *check.Errors, p *check.Path, r *certificatesv1.CertificateSigningRequest) {
	seen := map[certificatesv1.RequestConditionType]bool{}
	for i, c := range r.Status.Conditions {
		at := p.Index(i)
		if c.Type == "" {
			f.Required(at.Child("type"), "")
		}
		switch c.Type {
		case certificatesv1.CertificateApproved, certificatesv1.CertificateDenied, certificatesv1.CertificateFailed:
			check.OneOf(f, at.Child("status"), c.Status, corev1.ConditionTrue)
		default:
			check.OneOf(f, at.Child("status"), c.Status, corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown)
		}
		if seen[c.Type] {
			f.Duplicate(at.Child("type"), c.Type)
		}
		seen[c.Type] = true
	}
	if seen[certificatesv1.CertificateApproved] && seen[certificatesv1.CertificateDenied] {
		f.Invalid(p, `{conditions[{"type": "Approved"}], conditions[{"type": "Denied"}]}`,
			"must specify at most one of: `conditions[{\"type\": \"Approved\"}]`, `conditions[{\"type\": \"Denied\"}]`")
	}
}

func validateRequestUpdate(r, old *certificatesv1.CertificateSigningRequest, approves, issues bool) field.ErrorList {
	var f check.Errors
	f.Add(validateRequest(r)...)
	p := check.At("status", "conditions")
	for _, t := range []certificatesv1.RequestConditionType{certificatesv1.CertificateApproved, certificatesv1.CertificateDenied, certificatesv1.CertificateFailed} {
		now, was := conditionsOf(r, t), conditionsOf(old, t)
		switch {
		case len(now) < len(was):
			f.Forbidden(p, fmt.Sprintf("updates may not remove a condition of type %q", t))
		case approves || t == certificatesv1.CertificateFailed:
		case len(now) > len(was):
			f.Forbidden(p, fmt.Sprintf("updates may not add a condition of type %q", t))
		case !apiequality.Semantic.DeepEqual(now, was):
			f.Forbidden(p, fmt.Sprintf("updates may not modify a condition of type %q\n%v", t, diff.Diff(was, now)))
		}
	}
	at := check.At("status", "certificate")
	if !bytes.Equal(r.Status.Certificate, old.Status.Certificate) {
		if !issues {
			f.Forbidden(at, "updates may not set certificate content")
		} else if len(old.Status.Certificate) > 0 {
			f.Forbidden(at, "updates may not modify existing certificate content")
		} else if err := parseCertificates(r.Status.Certificate); err != nil {
			f.Invalid(at, "<certificate data>", err.Error())
		}
	}
	return f.List()
}

func parseCertificates(data []byte) error {
	n := 0
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			break
		}
		n++
		if block.Type != "CERTIFICATE" {
			return fmt.Errorf("only CERTIFICATE PEM blocks are allowed, found %q", block.Type)
		}
		if len(block.Headers) != 0 {
			return errors.New("no PEM block headers are permitted")
		}
		certs, err := x509.ParseCertificates(block.Bytes)
		if err != nil {
			return err
		}
		if len(certs) == 0 {
			return errors.New("found CERTIFICATE PEM block containing 0 certificates")
		}
	}
	if n == 0 {
		return errors.New("must contain at least one CERTIFICATE PEM block")
	}
	return nil
}
