package reach

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/server/auth"
)

// Local leads to the nodes that are simulated in the server's own process. Its methods are safe for concurrent use.
type Local interface {
	// Simulates reports whether an address is a simulated node's own, or in the nodes' pod ranges.
	Simulates(ip netip.Addr) bool
	// Defines reports whether a definition covers an address (host and port) of a pod.
	Defines(ctx context.Context, address string) bool
	// DialPod connects to a port of a pod: to its definition, or else to the HTTP greeting.
	DialPod(ctx context.Context, address string) (net.Conn, error)
	// DialKubelet connects to the kubelet at an address.
	DialKubelet(ctx context.Context, address string) (net.Conn, error)
}

// Dial connects to an address of a network, as net.Dialer's DialContext does.
type Dial = func(ctx context.Context, network, address string) (net.Conn, error)

// Network makes all connections of a server: see the package documentation. It is safe for concurrent use.
type Network struct {
	lookup auth.Lookup
	local  Local
	// dial connects to addresses that are not those of local.
	dial Dial
	// Pods connects to pods for the proxy subresources. It accepts any certificate.
	Pods *http.Transport
	// kubelets and simulated connect to kubelets: see KubeletTransport.
	kubelets, simulated *http.Transport
	addressTypes        []corev1.NodeAddressType
	// Redirects has, for an address that Dial is given, the address to dial in its place. It is set before the first use.
	Redirects map[string]string
}

// New returns a Network that looks up objects in l; a nil l has no objects. local may be nil. A nil dial is the machine's
// network.
func New(l auth.Lookup, local Local, dial Dial) *Network {
	n := &Network{lookup: l, local: local, dial: dial}
	if dial == nil {
		n.dial = (&net.Dialer{
			Timeout: 30 * time.Second, KeepAlive: 30 * time.Second,
			ControlContext: func(ctx context.Context, _, address string, _ syscall.RawConn) error { return n.guard(ctx, address) },
		}).DialContext
	}
	anyone := &tls.Config{InsecureSkipVerify: true}
	n.simulated = &http.Transport{DialContext: n.dialSimulated, TLSClientConfig: anyone, IdleConnTimeout: 90 * time.Second}
	n.SetKubelets(KubeletOptions{})
	n.Pods = &http.Transport{DialContext: n.dialPod, TLSClientConfig: anyone, IdleConnTimeout: 90 * time.Second}
	return n
}

// Transport carries requests to webhooks and other API servers, by HTTP/1.1 or HTTP/2 according to the TLS
// configuration.
func (n *Network) Transport(config *tls.Config) *http.Transport {
	return &http.Transport{
		DialContext: n.Dial, TLSClientConfig: config, TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConns: 100, MaxIdleConnsPerHost: 25, IdleConnTimeout: 90 * time.Second,
	}
}

// Dial connects to an address, and fails for a simulated address without a definition. If nodes are simulated, a
// cluster IP leads to an endpoint of its service.
func (n *Network) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if to := n.Redirects[address]; to != "" {
		address = to
	}
	if at, err := netip.ParseAddrPort(address); err == nil {
		if address, err = n.behind(ctx, at); err != nil {
			return nil, &net.OpError{Op: "dial", Net: network, Addr: net.TCPAddrFromAddrPort(at), Err: err}
		}
	}
	if n.isLocal(address) && n.local.Defines(ctx, address) {
		return n.local.DialPod(ctx, address)
	}
	return n.dial(ctx, network, address)
}

func (n *Network) dialSimulated(ctx context.Context, _, address string) (net.Conn, error) {
	return n.local.DialKubelet(ctx, address)
}

func (n *Network) dialPod(ctx context.Context, network, address string) (net.Conn, error) {
	if n.isLocal(address) {
		return n.local.DialPod(ctx, address)
	}
	return n.dial(ctx, network, address)
}

func (n *Network) isLocal(address string) bool {
	at, err := netip.ParseAddrPort(address)
	return err == nil && n.local != nil && n.local.Simulates(at.Addr())
}
