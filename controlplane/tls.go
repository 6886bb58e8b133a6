package controlplane

import (
	"crypto/tls"
	"net"
	"os"

	"fairlead.dev/server/auth/bootstrap"
)

// tlsConfig issues the server's certificate for the names it may be called by.
// Client certificates are asked for and not demanded: the server's authenticator
// verifies them, so that a bad one is answered with a Status.
func (cp *ControlPlane) tlsConfig() (*tls.Config, error) {
	hosts := []string{
		"localhost", "127.0.0.1", "::1", bootstrap.ServiceIP(serviceCIDR).String(),
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local",
	}
	if name, err := os.Hostname(); err == nil {
		hosts = append(hosts, name)
	}
	if host, _, err := net.SplitHostPort(cp.listener.Addr().String()); err == nil {
		hosts = append(hosts, host)
	}
	certificate, err := cp.authority.Serving(hosts...)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		Certificates: []tls.Certificate{certificate},
		ClientAuth:   tls.RequestClientCert,
		MinVersion:   tls.VersionTLS12,
	}, nil
}
