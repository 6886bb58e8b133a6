package controlplane

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"fairlead.dev/storage/etcdserver"
)

// etcdEndpoint serves the store as etcd. It is empty if that was not asked for.
type etcdEndpoint struct {
	listener net.Listener
	server   *etcdserver.Server
}

func (e etcdEndpoint) close() {
	if e.server != nil {
		e.server.Close()
	} else if e.listener != nil {
		e.listener.Close()
	}
}

// listenEtcd opens the port of Options.EtcdListen, if there is one. Whoever gets at
// it gets at everything, so in plain text it may only be reached from this
// machine.
func listenEtcd(o Options) (net.Listener, error) {
	if o.EtcdListen == "" {
		return nil, nil
	}
	if host, _, err := net.SplitHostPort(o.EtcdListen); err != nil {
		return nil, fmt.Errorf("etcd's address %s: %w", o.EtcdListen, err)
	} else if ip := net.ParseIP(host); o.EtcdTLS == (ServingFiles{}) && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("%s would serve every secret in plain text to whoever reaches it: listen on 127.0.0.1, or give --etcd-listen-cert-file, --etcd-listen-key-file and --etcd-listen-trusted-ca-file", o.EtcdListen)
	}
	l, err := net.Listen("tcp", o.EtcdListen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s is taken by another process: choose another with --etcd-listen (127.0.0.1:0 picks a free one)", o.EtcdListen)
	}
	return l, err
}

// ServingFiles are the PEM files that something is served over TLS with; none means
// plain text.
type ServingFiles struct {
	// CertFile and KeyFile are the server's own. Clients must have a certificate
	// signed by one of TrustedCAFile, if that is given.
	CertFile, KeyFile, TrustedCAFile string
}

// TLS reads the files; nil for plain text.
func (f ServingFiles) TLS() (*tls.Config, error) {
	if f == (ServingFiles{}) {
		return nil, nil
	}
	cert, err := tls.LoadX509KeyPair(f.CertFile, f.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("serving certificate: %w", err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{cert}}
	if f.TrustedCAFile == "" {
		return config, nil
	}
	pem, err := os.ReadFile(f.TrustedCAFile)
	if err != nil {
		return nil, fmt.Errorf("trusted CA: %w", err)
	}
	config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
	if !config.ClientCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("trusted CA: no certificate in %s", f.TrustedCAFile)
	}
	return config, nil
}

// serveEtcd serves the store as etcd, if that was asked for.
func (cp *ControlPlane) serveEtcd() error {
	l := cp.etcd.listener
	if l == nil {
		return nil
	}
	config, err := cp.options.EtcdTLS.TLS()
	if err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	s := etcdserver.New(etcdserver.Config{
		Store: cp.store, TLS: config, ClientURLs: []string{cp.EtcdURL()}, Log: cp.options.Log,
	})
	cp.etcd.server = s
	cp.serving.Go(func() error { return s.Serve(l) })
	cp.options.progress("etcd", cp.EtcdURL())
	return nil
}

// EtcdURL is where the store is served as etcd, "" if it is not.
func (cp *ControlPlane) EtcdURL() string {
	switch l := cp.etcd.listener; {
	case l == nil:
		return ""
	case cp.options.EtcdTLS == (ServingFiles{}):
		return "http://" + l.Addr().String()
	default:
		return "https://" + l.Addr().String()
	}
}
