package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"slices"

	"fairlead.dev/internal/server/auth/bootstrap"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
)

// tlsConfig returns the server's side of TLS.
func (cp *ControlPlane) tlsConfig() (*tls.Config, error) {
	hosts, err := cp.hosts()
	if err != nil {
		return nil, err
	}
	o, creds := cp.options, cp.credentials
	config := o.Serving.config(func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		if c := creds.serving.choose(hello); c != nil {
			return c, nil
		}
		return creds.authority.Serving(hosts...)
	})
	config.Time, config.NextProtos = o.realTime(), []string{"h2", "http/1.1"}
	if o.HTTP.NoHTTP2 {
		config.NextProtos = []string{"http/1.1"}
	}
	if o.Host != nil { // each of its control planes has an authority
		return config, nil
	}
	// Clients that have several certificates choose one by the names of the authorities.
	named := latest(func() *tls.Config {
		one := config.Clone()
		one.ClientCAs = x509.NewCertPool()
		for _, pem := range [][]byte{creds.clientCAs.pem(), creds.authority.FrontProxy().PEM(), creds.frontProxyCAs.pem()} {
			one.ClientCAs.AppendCertsFromPEM(pem)
		}
		return one
	}, creds.clientCAs, creds.frontProxyCAs)
	with := config.Clone()
	with.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return named(), nil }
	return with, nil
}

// rereads reports whether changed files are read again: not by a fork, whose files are those of the server it is a fork of,
// and not in virtual time, which waiting for changes would hold up.
func (cp *ControlPlane) rereads() bool {
	return cp.base == nil && !cp.options.VirtualTime && len(cp.credentials.reloads.all) > 0
}

// reread reads changed files again until ctx ends, and publishes the authorities.
func (cp *ControlPlane) reread(ctx context.Context) error {
	cp.credentials.reloads.run(ctx, cp.options.Log, func() {
		if err := cp.publishTrust(ctx, bootstrap.Reconcile); err != nil && ctx.Err() == nil {
			cp.options.Log.Error("cannot publish the authorities of clients", "configmap", metav1.NamespaceSystem+"/"+bootstrap.TrustName, "err", err)
		}
	})
	return nil
}

// publishTrust publishes the authorities of clients and front proxies.
func (cp *ControlPlane) publishTrust(ctx context.Context, reconcile func(have, want runtime.Object) runtime.Object) error {
	return cp.server.Bootstrap(ctx, []runtime.Object{bootstrap.Trust(cp.credentials.trusted(cp.options.Access.FrontProxy))}, reconcile)
}

// hosts are the names and addresses that the server may be called by.
func (cp *ControlPlane) hosts() (hosts []string, err error) {
	add := func(names ...string) {
		for _, name := range names {
			if !slices.Contains(hosts, name) {
				hosts = append(hosts, name)
			}
		}
	}
	add(
		"localhost", "127.0.0.1", "::1", bootstrap.ServiceIP(cp.options.Access.ServiceCIDRs[0]).String(),
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
			return nil, optionErrorf("--tls-san: %q is neither a host name nor an IP address", name)
		}
		add(name)
	}
	return hosts, nil
}
