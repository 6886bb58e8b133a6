package controlplane

import (
	"errors"
	"fmt"
	"net"
	"strconv"

	"fairlead.dev/internal/memnet"
	"fairlead.dev/internal/server/reach"
)

// defaultPort is where kubeconfigs expect a Kubernetes API server; portsToTry is
// how many from there on are tried before giving up.
const (
	defaultHost = "127.0.0.1"
	defaultPort = 6443
	portsToTry  = 100
)

// dialer returns the network's Dial, nil for the machine's network.
func dialer(n *memnet.Network) reach.Dial {
	if n == nil {
		return nil
	}
	return n.Dial
}

// Listen opens the port of an API server, for a process that receives the connections of a Network.
func Listen(address string) (net.Listener, error) { return listen(nil, address) }

// listen opens the server's port. An address that was asked for is taken or
// refused; without one, the first free port from 6443 on is. A network in memory has the same addresses.
func listen(n *memnet.Network, address string) (net.Listener, error) {
	if n != nil {
		if address == "" {
			address = net.JoinHostPort(defaultHost, strconv.Itoa(defaultPort))
		}
		return n.Listen(address)
	}
	if address != "" {
		if _, _, err := net.SplitHostPort(address); err != nil {
			return nil, optionErrorf("--listen=%s: want an address and a port, such as 127.0.0.1:6443", address)
		}
		l, err := net.Listen("tcp", address)
		if errors.Is(err, addressInUse) {
			return nil, fmt.Errorf("%s is taken by another process: choose another with --listen (127.0.0.1:0 picks a free one)", address)
		}
		return l, err
	}
	for port := defaultPort; port < defaultPort+portsToTry; port++ {
		l, err := net.Listen("tcp", net.JoinHostPort(defaultHost, strconv.Itoa(port)))
		if err == nil {
			return l, nil
		}
		if !errors.Is(err, addressInUse) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("ports %d to %d of %s are all taken: choose one with --listen", defaultPort, defaultPort+portsToTry-1, defaultHost)
}
