package certificates

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"slices"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
)

const (
	backdate    = 5 * time.Minute  // how far notBefore is in the past, for clocks that are slow
	minLifetime = 10 * time.Minute // the minimum lifetime
	short       = 8 * time.Hour    // below it, backdating does not shorten the lifetime
)

// sign signs an approved request for one of the signers, or writes the failure into its status.
func (r *requests) sign(ctx context.Context, csr *certificatesv1.CertificateSigningRequest) error {
	check := signers[csr.Spec.SignerName]
	if check == nil || r.o.Authority == nil || is(csr, certificatesv1.CertificateFailed) {
		return nil
	}
	req, err := parse(csr)
	if err != nil {
		return err
	}
	changed := csr.DeepCopy()
	if err := check(req, csr.Spec.Usages); err != nil {
		changed = with(csr, certificatesv1.CertificateFailed, "SignerValidationFailure", err.Error())
	} else if changed.Status.Certificate, err = r.issue(req, csr.Spec); err != nil {
		return fmt.Errorf("error auto signing csr: %w", err)
	}
	_, err = r.all.API.UpdateStatus(ctx, changed)
	return err
}

// issue returns the requested certificate, in PEM.
func (r *requests) issue(req *x509.CertificateRequest, spec certificatesv1.CertificateSigningRequestSpec) ([]byte, error) {
	if err := req.CheckSignature(); err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 128))
	if err != nil {
		return nil, err
	}
	authority, now, life := r.o.Authority(), r.o.Now(), r.life(spec.ExpirationSeconds)
	ca := authority.Certificate
	cert := &x509.Certificate{
		SerialNumber: serial,
		Subject:      req.Subject,
		DNSNames:     req.DNSNames, IPAddresses: req.IPAddresses, EmailAddresses: req.EmailAddresses, URIs: req.URIs,
		BasicConstraintsValid: true,
		NotBefore:             now.Add(-backdate),
		NotAfter:              now.Add(life),
	}
	if life >= short {
		cert.NotAfter = now.Add(life - backdate)
	}
	if cert.NotAfter.After(ca.NotAfter) {
		cert.NotAfter = ca.NotAfter
	}
	if !now.Before(ca.NotAfter) {
		return nil, fmt.Errorf("refusing to sign a certificate that expired in the past: NotAfter=%v", ca.NotAfter)
	}
	for _, u := range spec.Usages {
		bit, isBit := usages[u]
		extended, isExtended := extendedUsages[u]
		switch {
		case isBit:
			cert.KeyUsage |= bit
		case isExtended:
			cert.ExtKeyUsage = append(cert.ExtKeyUsage, extended)
		default:
			return nil, fmt.Errorf("unrecognized usage values: [%q]", u)
		}
	}
	slices.Sort(cert.ExtKeyUsage)
	cert.ExtKeyUsage = slices.Compact(cert.ExtKeyUsage)
	der, err := x509.CreateCertificate(rand.Reader, cert, ca, req.PublicKey, authority.Key)
	if err != nil {
		return nil, err
	}
	return append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), authority.Chain...), nil
}

func (r *requests) life(seconds *int32) time.Duration {
	if seconds == nil {
		return r.o.Duration
	}
	return min(max(time.Duration(*seconds)*time.Second, minLifetime), r.o.Duration)
}

var usages = map[certificatesv1.KeyUsage]x509.KeyUsage{
	certificatesv1.UsageSigning:           x509.KeyUsageDigitalSignature,
	certificatesv1.UsageDigitalSignature:  x509.KeyUsageDigitalSignature,
	certificatesv1.UsageContentCommitment: x509.KeyUsageContentCommitment,
	certificatesv1.UsageKeyEncipherment:   x509.KeyUsageKeyEncipherment,
	certificatesv1.UsageKeyAgreement:      x509.KeyUsageKeyAgreement,
	certificatesv1.UsageDataEncipherment:  x509.KeyUsageDataEncipherment,
	certificatesv1.UsageCertSign:          x509.KeyUsageCertSign,
	certificatesv1.UsageCRLSign:           x509.KeyUsageCRLSign,
	certificatesv1.UsageEncipherOnly:      x509.KeyUsageEncipherOnly,
	certificatesv1.UsageDecipherOnly:      x509.KeyUsageDecipherOnly,
}

var extendedUsages = map[certificatesv1.KeyUsage]x509.ExtKeyUsage{
	certificatesv1.UsageAny:             x509.ExtKeyUsageAny,
	certificatesv1.UsageServerAuth:      x509.ExtKeyUsageServerAuth,
	certificatesv1.UsageClientAuth:      x509.ExtKeyUsageClientAuth,
	certificatesv1.UsageCodeSigning:     x509.ExtKeyUsageCodeSigning,
	certificatesv1.UsageEmailProtection: x509.ExtKeyUsageEmailProtection,
	certificatesv1.UsageSMIME:           x509.ExtKeyUsageEmailProtection,
	certificatesv1.UsageIPsecEndSystem:  x509.ExtKeyUsageIPSECEndSystem,
	certificatesv1.UsageIPsecTunnel:     x509.ExtKeyUsageIPSECTunnel,
	certificatesv1.UsageIPsecUser:       x509.ExtKeyUsageIPSECUser,
	certificatesv1.UsageTimestamping:    x509.ExtKeyUsageTimeStamping,
	certificatesv1.UsageOCSPSigning:     x509.ExtKeyUsageOCSPSigning,
	certificatesv1.UsageMicrosoftSGC:    x509.ExtKeyUsageMicrosoftServerGatedCrypto,
	certificatesv1.UsageNetscapeSGC:     x509.ExtKeyUsageNetscapeServerGatedCrypto,
}
