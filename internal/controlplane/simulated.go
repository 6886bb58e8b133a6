package controlplane

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"

	"fairlead.dev/internal/memnet"
	"fairlead.dev/node"
)

// simulated implements reach.Local: it dials the simulated nodes of this process.
type simulated struct{ now atomic.Pointer[running] }

// running are the nodes that run here.
type running struct {
	nodes    *node.Nodes
	kubelets *memnet.Listener
}

// set sets the nodes that run here from now on; nil if they have stopped.
func (s *simulated) set(r *running) { s.now.Store(r) }

func (s *simulated) Simulates(ip netip.Addr) bool {
	r := s.now.Load()
	return r != nil && r.nodes.Simulates(ip)
}

func (s *simulated) Defines(address string) bool {
	r := s.now.Load()
	return r != nil && r.nodes.Kubelet().Defines(address)
}

func (s *simulated) DialPod(ctx context.Context, address string) (net.Conn, error) {
	r := s.now.Load()
	if r == nil {
		return nil, gone(address)
	}
	return r.nodes.Kubelet().Dial(ctx, address)
}

func (s *simulated) DialKubelet(ctx context.Context, address string) (net.Conn, error) {
	r := s.now.Load()
	if r == nil {
		return nil, gone(address)
	}
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	return r.kubelets.Dial(ctx, net.TCPAddrFromAddrPort(at), net.TCPAddrFromAddrPort(netip.AddrPort{}))
}

// gone returns the error for an address of nodes that have stopped.
func gone(address string) error {
	return fmt.Errorf("dial %s: the nodes that were simulated here have stopped", address)
}
