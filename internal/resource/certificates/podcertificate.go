package certificates

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/mail"
	"strconv"
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource/check"
)

// The outcomes of a request. A request has one of them at most, for good.
const (
	issued = certificatesv1.PodCertificateRequestConditionTypeIssued
	denied = certificatesv1.PodCertificateRequestConditionTypeDenied
	failed = certificatesv1.PodCertificateRequestConditionTypeFailed
)

const (
	maxChainSize = 100 << 10 // bytes
	minLifetime  = time.Hour
	// refreshMargin is the time from the start of a certificate, and to its end, outside of which its refresh may not
	// begin.
	refreshMargin = 10 * time.Minute
	// maxSkew is how far the start of a certificate may be from the present.
	maxSkew = 5 * time.Minute
)

// validatePodRequestStatus checks the only changes that a signer may make: to issue a certificate, or to deny the request
// or let it fail.
func validatePodRequestStatus(r, old *certificatesv1.PodCertificateRequest, now time.Time) field.ErrorList {
	var f check.Errors
	p := check.At("status")
	outcome := outcomes(&f, p.Child("conditions"), r.Status.Conditions)
	f.Add(metavalidation.ValidateConditions(r.Status.Conditions, p.Child("conditions").Field())...)
	if f.Len() > 0 {
		return f.List()
	}
	frozen := func(as certificatesv1.PodCertificateRequestStatus, why string) {
		if !apiequality.Semantic.DeepEqual(r.Status, as) {
			f.Invalid(p, field.OmitValueType{}, why)
		}
	}
	switch {
	case outcomeOf(old) != "":
		frozen(old.Status, "immutable after PodCertificateRequest is issued, denied, or failed")
	case outcome == denied, outcome == failed:
		frozen(certificatesv1.PodCertificateRequestStatus{Conditions: r.Status.Conditions},
			"non-condition status fields must be empty when denying or failing the PodCertificateRequest")
	case outcome == issued:
		c := chain{&f, p, r, now}
		c.validate(old.Spec.StubPKCS10Request)
	default:
		frozen(old.Status, `status is immutable unless transitioning to "Issued", "Denied", or "Failed"`)
	}
	return f.List()
}

// outcomes checks the types of conditions, and returns the outcome, if there is one.
func outcomes(f *check.Errors, p *check.Path, conditions []metav1.Condition) (outcome string) {
	for i := range conditions {
		c := &conditions[i]
		// kube-apiserver gives the index as a member's name.
		at := p.Child("[" + strconv.Itoa(i) + "]")
		switch c.Type {
		case issued, denied, failed:
			if outcome != "" {
				f.Invalid(at.Child("type"), c.Type, `There may be at most one condition with type "Issued", "Denied", or "Failed"`)
			}
			outcome = c.Type
			if c.Status != metav1.ConditionTrue {
				f.Add(field.NotSupported(at.Child("status").Field(), c.Status, []metav1.ConditionStatus{metav1.ConditionTrue}))
			}
		default:
			f.Add(field.NotSupported(at.Child("type").Field(), c.Type, []string{issued, denied, failed}))
		}
	}
	return outcome
}

func outcomeOf(r *certificatesv1.PodCertificateRequest) string {
	for _, c := range r.Status.Conditions {
		if c.Status == metav1.ConditionTrue {
			return c.Type
		}
	}
	return ""
}

// chain checks an issued certificate chain. Each step ends the check if it finds an error, as in kube-apiserver.
type chain struct {
	*check.Errors
	p   *check.Path
	r   *certificatesv1.PodCertificateRequest
	now time.Time
}

func (c chain) at() *check.Path { return c.p.Child("certificateChain") }

func (c chain) validate(request []byte) {
	text := c.r.Status.CertificateChain
	if len(text) > maxChainSize {
		c.Add(field.TooLong(c.at().Field(), text, maxChainSize))
		return
	}
	leaf, rest := c.leaf(text)
	if leaf == nil {
		return
	}
	c.names(leaf)
	asked, err := x509.ParseCertificateRequest(request)
	if err != nil {
		c.Invalid(check.At("spec", "stubPKCS10Request"), field.OmitValueType{}, "must be a valid PKCS#10 CSR")
		return
	}
	if key, ok := asked.PublicKey.(interface{ Equal(crypto.PublicKey) bool }); ok && !key.Equal(leaf.PublicKey) {
		c.Invalid(c.at(), text, "leaf certificate was not issued to the requested public key")
		return
	}
	if c.times(leaf) {
		c.intermediates(rest)
	}
}

// leaf returns the first certificate, or nil after an error.
func (c chain) leaf(text string) (*x509.Certificate, []byte) {
	block, rest := pem.Decode([]byte(text))
	if block == nil {
		c.Invalid(c.at(), text, "issued certificate chain must contain at least one certificate")
		return nil, nil
	}
	if block.Type != "CERTIFICATE" {
		c.Invalid(c.at(), text, "issued certificate chain must consist entirely of CERTIFICATE PEM blocks")
		return nil, nil
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		c.Invalid(c.at(), text, "leaf certificate does not parse as valid X.509")
		return nil, nil
	}
	return leaf, rest
}

func (c chain) names(leaf *x509.Certificate) {
	for _, name := range leaf.DNSNames {
		if name == "" {
			c.Invalid(c.at(), name, "leaf certificate should not contain empty DNSName")
		}
		if strings.Contains(name, "..") {
			c.Invalid(c.at(), name, "leaf certificate's DNSName should not contain '..'")
		}
		if strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") {
			c.Invalid(c.at(), name, "leaf certificate's DNSName should not start or end with '.'")
		}
	}
	for _, address := range leaf.EmailAddresses {
		if _, err := mail.ParseAddress(address); err != nil {
			c.Invalid(c.at(), address, "leaf certificate should not contain invalid EmailAddress")
		}
	}
}

// times compares the times in the status with those of the leaf, and reports whether they are right.
func (c chain) times(leaf *x509.Certificate) bool {
	s := &c.r.Status
	before, after, refresh := c.p.Child("notBefore"), c.p.Child("notAfter"), c.p.Child("beginRefreshAt")
	if s.NotBefore == nil {
		c.Required(before, "must be present and consistent with the issued certificate")
	}
	if s.NotAfter == nil {
		c.Required(after, "must be present and consistent with the issued certificate")
	}
	if s.BeginRefreshAt == nil {
		c.Required(refresh, "must be present and in the range [notbefore+10min, notafter-10min]")
	}
	if c.Len() > 0 {
		return false
	}
	lifetime := leaf.NotAfter.Sub(leaf.NotBefore)
	longest := int32(maxExpiration)
	if n := c.r.Spec.MaxExpirationSeconds; n != nil {
		longest = *n
	}
	switch {
	case !s.NotBefore.Time.Equal(leaf.NotBefore):
		c.Invalid(before, s.NotBefore.Time, "must be set to the NotBefore time encoded in the leaf certificate")
	case s.NotBefore.Time.Sub(c.now).Abs() >= maxSkew:
		c.Invalid(before, s.NotBefore.Time, "must be set to within 5 minutes of kube-apiserver's current time")
	case !s.NotAfter.Time.Equal(leaf.NotAfter):
		c.Invalid(after, s.NotAfter.Time, "must be set to the NotAfter time encoded in the leaf certificate")
	case lifetime < minLifetime:
		c.Invalid(c.at(), lifetime, "leaf certificate lifetime must be >= 1 hour")
	case lifetime > time.Duration(longest)*time.Second:
		c.Invalid(c.at(), lifetime, fmt.Sprintf("leaf certificate lifetime must be <= spec.maxExpirationSeconds (%v)", longest))
	case s.BeginRefreshAt.Time.Before(s.NotBefore.Time.Add(refreshMargin)):
		c.Invalid(refresh, s.BeginRefreshAt.Time, "must be at least 10 minutes after status.notBefore")
	case s.BeginRefreshAt.Time.After(s.NotAfter.Time.Add(-refreshMargin)):
		c.Invalid(refresh, s.BeginRefreshAt.Time, "must be at least 10 minutes before status.notAfter")
	default:
		return true
	}
	return false
}

// intermediates checks the certificates after the leaf. A chain without its root cannot be verified.
func (c chain) intermediates(rest []byte) {
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return
		}
		if block.Type != "CERTIFICATE" {
			c.Invalid(c.at(), c.r.Status.CertificateChain, "issued certificate chain must consist entirely of CERTFICATE PEM blocks")
			return
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			c.Invalid(c.at(), c.r.Status.CertificateChain, "intermediate certificate does not parse as valid X.509")
			return
		}
	}
}
