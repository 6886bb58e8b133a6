package controlplane

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
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

// listenEtcd opens the address of Options.EtcdListen, if it is set. Its clients can read
// and write everything. So without client certificates the address must be reachable from
// this machine only, unless Options.EtcdListenInsecure is set.
func listenEtcd(o Options) (net.Listener, error) {
	if o.EtcdListen == "" {
		return nil, nil
	}
	if path, ok := strings.CutPrefix(o.EtcdListen, unixScheme); ok {
		if !filepath.IsAbs(path) || len(path) > maxSocketPath {
			return nil, optionErrorf("--etcd-listen=%s: want the absolute path of a socket, of at most %d bytes", o.EtcdListen, maxSocketPath)
		}
		return listenUnix(path)
	}
	host, _, err := net.SplitHostPort(o.EtcdListen)
	if err != nil {
		return nil, optionErrorf("--etcd-listen=%s: want an address and a port, such as 127.0.0.1:2379, or unix:///PATH", o.EtcdListen)
	}
	if o.EtcdTLS.TrustedCAFile == "" && !isLoopback(host) && !o.EtcdListenInsecure {
		return nil, optionErrorf("--etcd-listen=%s would let everyone who reaches it read and write everything, every secret included: listen on 127.0.0.1 or unix:///PATH, or give --etcd-listen-trusted-ca-file with --etcd-listen-cert-file and --etcd-listen-key-file, or say --etcd-listen-insecure", o.EtcdListen)
	}
	l, err := net.Listen("tcp", o.EtcdListen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s is taken by another process: choose another with --etcd-listen (127.0.0.1:0 picks a free one)", o.EtcdListen)
	}
	return l, err
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// etcdWarning is the operator's warning about an etcd endpoint without authentication; ""
// if it authenticates.
func etcdWarning(o Options) string {
	host, _, err := net.SplitHostPort(o.EtcdListen)
	switch {
	case o.EtcdListen == "" || o.EtcdTLS.TrustedCAFile != "" || strings.HasPrefix(o.EtcdListen, unixScheme):
		return ""
	case err == nil && isLoopback(host):
		return "every user of this machine can read and write everything there, secrets included; --etcd-listen=unix:///PATH lets in only you"
	}
	return "everyone who reaches this address can read and write everything there, secrets included"
}

// ServingFiles are the PEM files for serving over TLS; without them it is plain text.
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
	if w := etcdWarning(cp.options); w != "" {
		cp.options.warn("etcd", w)
	}
	return nil
}

// EtcdURL is where the store is served as etcd, "" if it is not.
func (cp *ControlPlane) EtcdURL() string {
	switch l := cp.etcd.listener; {
	case l == nil:
		return ""
	case l.Addr().Network() == "unix":
		return unixScheme + l.Addr().String()
	case cp.options.EtcdTLS == (ServingFiles{}):
		return "http://" + l.Addr().String()
	default:
		return "https://" + l.Addr().String()
	}
}
