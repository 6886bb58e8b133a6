package controlplane

import (
	"crypto/tls"
	"net"
	"os"
	"slices"

	"fairlead.dev/internal/server/auth/bootstrap"
	"k8s.io/apimachinery/pkg/util/validation"
)

// tlsConfig returns the server's side of TLS. Client certificates are asked for and not demanded: the server's authenticator
// verifies them, so that a bad one is answered with a Status.
func (cp *ControlPlane) tlsConfig() (*tls.Config, error) {
	certificate := cp.credentials.serving
	if certificate == nil {
		issued, err := cp.issueCertificate()
		if err != nil {
			return nil, err
		}
		certificate = &issued
	}
	return &tls.Config{
		Time:         cp.options.realTime(),
		Certificates: []tls.Certificate{*certificate},
		ClientAuth:   tls.RequestClientCert,
		MinVersion:   tls.VersionTLS12,
	}, nil
}

// issueCertificate issues the server's certificate for the names it may be called by.
func (cp *ControlPlane) issueCertificate() (tls.Certificate, error) {
	var hosts []string
	add := func(names ...string) {
		for _, name := range names {
			if !slices.Contains(hosts, name) {
				hosts = append(hosts, name)
			}
		}
	}
	add(
		"localhost", "127.0.0.1", "::1", bootstrap.ServiceIP(cp.options.Access.ServiceCIDR).String(),
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
	)
	if name, err := os.Hostname(); err == nil {
		add(name)
	}
	add(cp.advertised.Addr().String())
	if listens := cp.listener.Addr().(*net.TCPAddr).AddrPort().Addr().Unmap(); listens.IsUnspecified() {
		add(machineAddresses()...)
	} else {
		add(listens.String())
	}
	for _, name := range cp.options.TLSNames {
		if net.ParseIP(name) == nil && len(validation.IsWildcardDNS1123Subdomain(name)) > 0 && len(validation.IsDNS1123Subdomain(name)) > 0 {
			return tls.Certificate{}, optionErrorf("--tls-san: %q is neither a host name nor an IP address", name)
		}
		add(name)
	}
	return cp.credentials.authority.Serving(hosts...)
}
