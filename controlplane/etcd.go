package controlplane

import (
	"errors"
	"fmt"
	"net"
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
	} else if ip := net.ParseIP(host); o.EtcdTLS == nil && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("%s would serve every secret in plain text to whoever reaches it: listen on 127.0.0.1, or give --etcd-cert-file, --etcd-key-file and --etcd-trusted-ca-file", o.EtcdListen)
	}
	l, err := net.Listen("tcp", o.EtcdListen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s is taken by another process: choose another with --etcd-listen (127.0.0.1:0 picks a free one)", o.EtcdListen)
	}
	return l, err
}

// serveEtcd serves the store as etcd, if that was asked for.
func (cp *ControlPlane) serveEtcd() {
	l := cp.etcd.listener
	if l == nil {
		return
	}
	s := etcdserver.New(etcdserver.Config{
		Store: cp.store, TLS: cp.options.EtcdTLS, ClientURLs: []string{cp.EtcdURL()}, Log: cp.options.Log,
	})
	cp.etcd.server = s
	cp.serving.Go(func() error { return s.Serve(l) })
	cp.options.progress("etcd", cp.EtcdURL())
}

// EtcdURL is where the store is served as etcd, "" if it is not.
func (cp *ControlPlane) EtcdURL() string {
	switch l := cp.etcd.listener; {
	case l == nil:
		return ""
	case cp.options.EtcdTLS == nil:
		return "http://" + l.Addr().String()
	default:
		return "https://" + l.Addr().String()
	}
}
