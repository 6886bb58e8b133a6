package memnet

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"syscall"
)

// firstPort is the first port that is given to a listener without one, and to clients.
const firstPort = 49152

// Network is a set of listeners, by address. The zero value is an empty network.
type Network struct {
	mu        sync.Mutex
	listeners map[netip.AddrPort]*Listener
	lastPort  uint16
}

// Listen listens at an IP address and port; port 0 is a free one. It returns EADDRINUSE, wrapped, for an address that
// has a listener.
func (n *Network) Listen(address string) (net.Listener, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, &net.OpError{Op: "listen", Net: "tcp", Err: err}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if at.Port() == 0 {
		at = netip.AddrPortFrom(at.Addr(), n.port())
	}
	addr := net.TCPAddrFromAddrPort(at)
	if n.listeners[at] != nil {
		return nil, &net.OpError{Op: "listen", Net: "tcp", Addr: addr, Err: syscall.EADDRINUSE}
	}
	if n.listeners == nil {
		n.listeners = map[netip.AddrPort]*Listener{}
	}
	l := Listen(addr)
	n.listeners[at] = l
	return &attached{l, n, at}, nil
}

// Dial connects to the listener at an address, whose host may be localhost. It returns ECONNREFUSED, wrapped, if the
// address has no listener. The name of the network is ignored.
func (n *Network) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	at, err := netip.ParseAddrPort(net.JoinHostPort(host, port))
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}}
	}
	n.mu.Lock()
	l, from := n.listeners[at], netip.AddrPortFrom(at.Addr(), n.port())
	n.mu.Unlock()
	addr := net.TCPAddrFromAddrPort(at)
	if l == nil {
		return nil, &net.OpError{Op: "dial", Net: network, Addr: addr, Err: syscall.ECONNREFUSED}
	}
	return l.Dial(ctx, addr, net.TCPAddrFromAddrPort(from))
}

// port returns the next port that no listener has. The caller holds mu.
func (n *Network) port() uint16 {
	for {
		if n.lastPort++; n.lastPort < firstPort {
			n.lastPort = firstPort
		}
		if !n.taken(n.lastPort) {
			return n.lastPort
		}
	}
}

func (n *Network) taken(port uint16) bool {
	for at := range n.listeners {
		if at.Port() == port {
			return true
		}
	}
	return false
}

// attached is a listener that leaves its network when it is closed.
type attached struct {
	*Listener
	network *Network
	at      netip.AddrPort
}

func (a *attached) Close() error {
	a.network.mu.Lock()
	if a.network.listeners[a.at] == a.Listener {
		delete(a.network.listeners, a.at)
	}
	a.network.mu.Unlock()
	return a.Listener.Close()
}
