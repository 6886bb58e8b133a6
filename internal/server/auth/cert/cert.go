// Package cert authenticates by client certificates: the common name is the
// user, each organization a group, as every Kubernetes API server reads them. Those of
// front proxies say instead that headers tell who asks.
//
// # Concurrency
//
// The Authenticators may be used from any goroutine.
package cert

import (
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"net/http"
	"time"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/internal/remember"
)

// trust is how long a verified certificate is not verified again. It bounds
// what a change of clock can do; the certificate's own end is kept to exactly.
const trust = 10 * time.Minute

type authenticator struct {
	roots *x509.CertPool
	seen  *remember.Memory[*auth.User]
}

// New believes certificates that chain to roots and allow client use. A
// request without a certificate is not for it; one whose certificate does not
// verify is an error. The server's TLS must ask for certificates without
// verifying them (tls.RequestClientCert).
func New(roots *x509.CertPool) auth.Authenticator {
	return &authenticator{roots: roots, seen: remember.New[*auth.User](4096, nil)}
}

func (a *authenticator) Authenticate(r *http.Request) (*auth.User, bool, error) {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return nil, false, nil
	}
	chain := r.TLS.PeerCertificates
	leaf := chain[0]
	if u, ok := a.seen.Get(leaf.Raw); ok {
		return u, true, nil
	}
	if err := verify(chain, a.roots); err != nil {
		return nil, false, err
	}
	if leaf.Subject.CommonName == "" {
		return nil, false, nil
	}
	sum := sha256.Sum256(leaf.Raw)
	u := auth.Authenticated(&auth.User{
		Name:   leaf.Subject.CommonName,
		Groups: leaf.Subject.Organization,
		Extra:  map[string][]string{auth.CredentialID: {"X509SHA256=" + hex.EncodeToString(sum[:])}},
	})
	a.seen.Put(leaf.Raw, u, trusted(leaf))
	return u, true, nil
}

// verify says whether the chain leads to the roots and allows client use.
func verify(chain []*x509.Certificate, roots *x509.CertPool) error {
	opts := x509.VerifyOptions{
		Roots:         roots,
		Intermediates: x509.NewCertPool(),
		KeyUsages:     []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	for _, c := range chain[1:] {
		opts.Intermediates.AddCert(c)
	}
	if _, err := chain[0].Verify(opts); err != nil {
		return fmt.Errorf("verifying certificate %q: %w", chain[0].Subject.CommonName, err)
	}
	return nil
}

// trusted is until when a verified certificate is believed without another look.
func trusted(leaf *x509.Certificate) time.Time {
	until := time.Now().Add(trust)
	if leaf.NotAfter.Before(until) {
		return leaf.NotAfter
	}
	return until
}
