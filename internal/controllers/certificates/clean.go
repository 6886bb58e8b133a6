package certificates

import (
	"crypto/x509"
	"encoding/pem"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
)

// How long requests are kept: those with a result, and pending ones.
const (
	keepAnswered = time.Hour
	keepOpen     = 24 * time.Hour
)

// expiry returns when a request expires: an hour after it was denied, failed or issued (or when the certificate
// expires, if that is earlier), a day after it was created or approved without a result.
func expiry(csr *certificatesv1.CertificateSigningRequest) (at time.Time, ok bool) {
	earliest := func(t time.Time) {
		if !ok || t.Before(at) {
			at, ok = t, true
		}
	}
	if len(csr.Status.Conditions) == 0 {
		earliest(csr.CreationTimestamp.Add(keepOpen))
	}
	issued := len(csr.Status.Certificate) > 0
	for _, c := range csr.Status.Conditions {
		if c.Type == certificatesv1.CertificateApproved && issued {
			if end, ok := lastMoment(csr.Status.Certificate); ok {
				earliest(end)
			}
		}
		if c.LastUpdateTime.IsZero() {
			continue
		}
		switch {
		case c.Type == certificatesv1.CertificateApproved && !issued:
			earliest(c.LastUpdateTime.Add(keepOpen))
		case c.Type == certificatesv1.CertificateApproved, c.Type == certificatesv1.CertificateDenied, c.Type == certificatesv1.CertificateFailed:
			earliest(c.LastUpdateTime.Add(keepAnswered))
		}
	}
	return at, ok
}

// lastMoment returns when the first certificate of a PEM text expires.
func lastMoment(text []byte) (time.Time, bool) {
	block, _ := pem.Decode(text)
	if block == nil {
		return time.Time{}, false
	}
	certs, err := x509.ParseCertificates(block.Bytes)
	if err != nil || len(certs) == 0 {
		return time.Time{}, false
	}
	return certs[0].NotAfter, true
}
