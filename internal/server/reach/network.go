package reach

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"fairlead.dev/internal/server/auth"
)

// Local leads to the nodes that are simulated in the server's own process. Its methods may be
// called from any goroutine.
type Local interface {
	// Simulates reports whether an address is one of those nodes' own, or in the range
	// that they give to pods.
	Simulates(ip netip.Addr) bool
	// Defines reports whether a definition says what answers at an address of a pod, host and port.
	Defines(address string) bool
	// DialPod connects to a port of a pod: to what a definition says, else to what greets
	// by HTTP.
	DialPod(ctx context.Context, address string) (net.Conn, error)
	// DialKubelet connects to the kubelet at an address.
	DialKubelet(ctx context.Context, address string) (net.Conn, error)
}

// Network is the one way by which a server connects to anything: see the package
// documentation. It may be used from any goroutine.
type Network struct {
	lookup auth.Lookup
	local  Local
	dialer net.Dialer
	// Kubelets reaches the kubelets at the addresses that their nodes tell, and Pods the
	// addresses of pods for the proxy subresources. Both take any certificate, as
	// kube-apiserver does without an authority for kubelets.
	Kubelets, Pods *http.Transport
}

// New returns a Network that knows the objects of l; nil knows none. local may be nil.
func New(l auth.Lookup, local Local) *Network {
	n := &Network{lookup: l, local: local}
	n.dialer = net.Dialer{
		Timeout: 30 * time.Second, KeepAlive: 30 * time.Second,
		ControlContext: func(ctx context.Context, _, address string, _ syscall.RawConn) error { return n.guard(ctx, address) },
	}
	anyone := &tls.Config{InsecureSkipVerify: true}
	n.Kubelets = &http.Transport{DialContext: n.dialKubelet, TLSClientConfig: anyone, IdleConnTimeout: 90 * time.Second}
	n.Pods = &http.Transport{DialContext: n.dialPod, TLSClientConfig: anyone, IdleConnTimeout: 90 * time.Second}
	return n
}

// Transport carries requests to webhooks and other API servers, by HTTP/1.1 or HTTP/2 as the
// TLS configuration says.
func (n *Network) Transport(config *tls.Config) *http.Transport {
	return &http.Transport{
		DialContext: n.Dial, TLSClientConfig: config, TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConns: 100, MaxIdleConnsPerHost: 25, IdleConnTimeout: 90 * time.Second,
	}
}

// Dial connects to an address, unless it is a simulated one for which nothing is declared. A
// cluster IP leads to an endpoint of its service where nodes are simulated.
func (n *Network) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if at, err := netip.ParseAddrPort(address); err == nil {
		if address, err = n.behind(ctx, at); err != nil {
			return nil, &net.OpError{Op: "dial", Net: network, Addr: net.TCPAddrFromAddrPort(at), Err: err}
		}
	}
	if n.isLocal(address) && n.local.Defines(address) {
		return n.local.DialPod(ctx, address)
	}
	return n.dialer.DialContext(ctx, network, address)
}

func (n *Network) dialKubelet(ctx context.Context, network, address string) (net.Conn, error) {
	if n.isLocal(address) {
		return n.local.DialKubelet(ctx, address)
	}
	return n.dialer.DialContext(ctx, network, address)
}

func (n *Network) dialPod(ctx context.Context, network, address string) (net.Conn, error) {
	if n.isLocal(address) {
		return n.local.DialPod(ctx, address)
	}
	return n.dialer.DialContext(ctx, network, address)
}

func (n *Network) isLocal(address string) bool {
	at, err := netip.ParseAddrPort(address)
	return err == nil && n.local != nil && n.local.Simulates(at.Addr())
}
