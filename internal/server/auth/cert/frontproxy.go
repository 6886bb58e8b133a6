package cert

import (
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/internal/remember"
)

// Headers in which a front proxy passes the user. kube-apiserver configures them by
// --requestheader-username-headers and similar flags.
const (
	UserHeader  = "X-Remote-User"
	UIDHeader   = "X-Remote-Uid"
	GroupHeader = "X-Remote-Group"
	// ExtraPrefix is followed by an extra key, in lower case and escaped as in paths.
	ExtraPrefix = "X-Remote-Extra-"
)

type frontProxy struct {
	roots *x509.CertPool
	names []string
	now   func() time.Time
	seen  *remember.Memory[struct{}]
}

// FrontProxy returns an Authenticator that trusts the user in a request's headers if its certificate chains to
// roots, allows client use and has one of the names. Other certificates are an error; requests without a
// certificate, or whose headers name no user, are ignored. The time is that of now.
func FrontProxy(roots *x509.CertPool, now func() time.Time, names ...string) auth.Authenticator {
	return &frontProxy{roots: roots, names: names, now: now, seen: remember.New[struct{}](256, now)}
}

func (a *frontProxy) Authenticate(r *http.Request) (*auth.User, bool, error) {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return nil, false, nil
	}
	leaf := r.TLS.PeerCertificates[0]
	if _, ok := a.seen.Get(leaf.Raw); !ok {
		if err := verify(r.TLS.PeerCertificates, a.roots, a.now()); err != nil {
			return nil, false, err
		}
		if !slices.Contains(a.names, leaf.Subject.CommonName) {
			return nil, false, fmt.Errorf("%q is not the name of a front proxy", leaf.Subject.CommonName)
		}
		a.seen.Put(leaf.Raw, struct{}{}, trusted(leaf, a.now()))
	}
	name := r.Header.Get(UserHeader)
	if name == "" {
		return nil, false, nil
	}
	u := &auth.User{Name: name, UID: r.Header.Get(UIDHeader), Extra: map[string][]string{}}
	for _, g := range r.Header.Values(GroupHeader) {
		if g != "" {
			u.Groups = append(u.Groups, g)
		}
	}
	for header, values := range r.Header {
		if len(header) < len(ExtraPrefix) || !strings.EqualFold(header[:len(ExtraPrefix)], ExtraPrefix) {
			continue
		}
		key := strings.ToLower(header[len(ExtraPrefix):])
		if plain, err := url.PathUnescape(key); err == nil {
			key = plain
		}
		u.Extra[key] = append(u.Extra[key], values...)
	}
	return auth.Authenticated(u), true, nil
}
