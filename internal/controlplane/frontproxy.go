package controlplane

import (
	"bytes"
	"crypto/x509"
	"net/http"
	"slices"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/bootstrap"
	"fairlead.dev/internal/server/auth/cert"
	certutil "k8s.io/client-go/util/cert"
)

// FrontProxy configures front proxies besides the server's own: their clients are the users in the headers of requests.
type FrontProxy struct {
	// CAFile has the CAs of the proxies' client certificates; "" trusts no further proxies.
	CAFile string
	// Names are the common names of their certificates; empty allows any.
	Names []string
	// Headers pass the user. Without the name of a header for users, the proxies pass none.
	Headers cert.Headers
}

// frontProxies authenticates the clients of the server's own front proxies and of the configured ones.
func (c credentials) frontProxies(o Options) (auth.Authenticator, error) {
	own := latestAuthenticator(func() auth.Authenticator {
		return cert.FrontProxy(c.authority.FrontProxy().Pool(), o.realTime(), cert.StandardHeaders(), bootstrap.FrontProxy)
	}, c.clientCAs)
	further := o.Access.FrontProxy
	if further.CAFile == "" {
		return own, nil
	}
	if len(further.Names) == 0 {
		clients, _ := certutil.ParseCertsPEM(c.clientCAs.pem())
		proxies, _ := certutil.ParseCertsPEM(c.frontProxyCAs.pem())
		if slices.ContainsFunc(proxies, func(ca *x509.Certificate) bool { return slices.ContainsFunc(clients, ca.Equal) }) {
			return nil, optionErrorf("--requestheader-client-ca-file has a CA of client certificates: --requestheader-allowed-names must tell the front proxies from clients")
		}
	}
	return auth.Union(own, latestAuthenticator(func() auth.Authenticator {
		return cert.FrontProxy(c.frontProxyCAs.pool(), o.realTime(), further.Headers, further.Names...)
	}, c.frontProxyCAs)), nil
}

// clients authenticates the clients with certificates.
func (c credentials) clients(o Options) auth.Authenticator {
	return latestAuthenticator(func() auth.Authenticator { return cert.New(c.clientCAs.pool(), o.realTime()) }, c.clientCAs)
}

// latestAuthenticator authenticates by the authenticator for the present CAs. Its memory of verified
// certificates ends with it.
func latestAuthenticator(build func() auth.Authenticator, of authorities) auth.Authenticator {
	current := latest(build, of)
	return auth.AuthenticatorFunc(func(r *http.Request) (*auth.User, bool, error) { return current().Authenticate(r) })
}

// trusted has the CAs of client certificates and of all front proxies, with their names and headers.
func (c credentials) trusted(further FrontProxy) bootstrap.Options {
	o := bootstrap.Options{
		ClientCA: string(c.clientCAs.pem()), FrontProxyCA: string(c.authority.FrontProxy().PEM()),
		FrontProxyNames: []string{bootstrap.FrontProxy}, UserHeaders: cert.StandardHeaders(),
	}
	if further.CAFile == "" {
		return o
	}
	o.FrontProxyCA += string(bytes.TrimSpace(c.frontProxyCAs.pem())) + "\n"
	o.FrontProxyNames = add(o.FrontProxyNames, further.Names)
	if len(further.Names) == 0 {
		o.FrontProxyNames = nil // any name
	}
	h := &o.UserHeaders
	h.Users, h.UIDs = add(h.Users, further.Headers.Users), add(h.UIDs, further.Headers.UIDs)
	h.Groups, h.ExtraPrefixes = add(h.Groups, further.Headers.Groups), add(h.ExtraPrefixes, further.Headers.ExtraPrefixes)
	return o
}

// add appends the names that list does not have.
func add(list, names []string) []string {
	for _, name := range names {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}
