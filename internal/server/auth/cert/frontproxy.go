package cert

import (
	"crypto/x509"
	"fmt"
	"net/http"
	"slices"
	"time"

	"fairlead.dev/internal/remember"
	"fairlead.dev/internal/server/auth"
)

type frontProxy struct {
	roots   *x509.CertPool
	headers Headers
	names   []string
	now     func() time.Time
	seen    *remember.Memory[struct{}]
}

// FrontProxy returns an Authenticator that trusts the user in a request's headers if its certificate chains to
// roots, allows client use and has one of the names as common name; without names, any. Other certificates are an error;
// requests without a certificate, or whose headers pass no user, are ignored. The time is that of now.
func FrontProxy(roots *x509.CertPool, now func() time.Time, headers Headers, names ...string) auth.Authenticator {
	return &frontProxy{roots: roots, headers: headers, names: names, now: now, seen: remember.New[struct{}](256, now)}
}

func (a *frontProxy) Authenticate(r *http.Request) (*auth.User, bool, error) {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return nil, false, nil
	}
	leaf := r.TLS.PeerCertificates[0]
	u := a.headers.user(r.Header)
	if u == nil && leaf.Subject.CommonName != "" {
		return nil, false, nil // the Authenticator of New verifies the certificate
	}
	if _, ok := a.seen.Get(leaf.Raw); !ok {
		if err := verify(r.TLS.PeerCertificates, a.roots, a.now()); err != nil {
			return nil, false, err
		}
		if len(a.names) > 0 && !slices.Contains(a.names, leaf.Subject.CommonName) {
			return nil, false, fmt.Errorf("%q is not the name of a front proxy", leaf.Subject.CommonName)
		}
		a.seen.Put(leaf.Raw, struct{}{}, trusted(leaf, a.now()))
	}
	if u == nil {
		return nil, false, nil
	}
	return auth.Authenticated(u), true, nil
}
