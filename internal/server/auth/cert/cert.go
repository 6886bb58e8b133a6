// Package cert authenticates by client certificates: the common name is the user, each organization a group, as in
// every Kubernetes API server. A front proxy's certificate instead vouches for the user in the request's headers.
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

	"fairlead.dev/internal/remember"
	"fairlead.dev/internal/server/auth"
)

// trust is how long a successful verification is reused. It bounds the effect of a clock change; the certificate's
// own expiry is observed exactly.
const trust = 10 * time.Minute

type authenticator struct {
	roots *x509.CertPool
	now   func() time.Time
	seen  *remember.Memory[*auth.User]
}

// New returns an Authenticator for certificates that chain to roots and allow client use. It ignores requests
// without a certificate, and returns an error if a certificate does not verify. The server's TLS must request
// certificates without verifying them (tls.RequestClientCert). The time is that of now.
func New(roots *x509.CertPool, now func() time.Time) auth.Authenticator {
	return &authenticator{roots: roots, now: now, seen: remember.New[*auth.User](4096, now)}
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
	if err := verify(chain, a.roots, a.now()); err != nil {
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
	a.seen.Put(leaf.Raw, u, trusted(leaf, a.now()))
	return u, true, nil
}

// verify returns an error unless the chain leads to the roots, allows client use, and is valid at now.
func verify(chain []*x509.Certificate, roots *x509.CertPool, now time.Time) error {
	opts := x509.VerifyOptions{
		CurrentTime:   now,
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

// trusted returns the time until which a verification is reused.
func trusted(leaf *x509.Certificate, now time.Time) time.Time {
	until := now.Add(trust)
	if leaf.NotAfter.Before(until) {
		return leaf.NotAfter
	}
	return until
}
