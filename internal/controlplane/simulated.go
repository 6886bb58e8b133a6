package controlplane

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"

	"fairlead.dev/internal/memnet"
	"fairlead.dev/node"
)

// simulated implements reach.Local: it dials the simulated nodes of this process.
type simulated struct {
	// options are those of the nodes; without a Count there are none.
	options node.Options
	// sleeper wakes the nodes; nil if they always run.
	sleeper *sleeper
	mu      struct {
		sync.Mutex
		now *running
		// changed is closed by the next set.
		changed chan struct{}
	}
}

// running are the nodes that run here.
type running struct {
	nodes    *node.Nodes
	kubelets *memnet.Listener
}

// set sets the nodes that run here from now on; nil if they have stopped.
func (s *simulated) set(r *running) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.now = r
	if s.mu.changed != nil {
		close(s.mu.changed)
		s.mu.changed = nil
	}
}

// get returns the nodes that run here, nil if they have stopped, and otherwise a channel that is closed by the next set.
func (s *simulated) get() (*running, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.changed == nil {
		s.mu.changed = make(chan struct{})
	}
	return s.mu.now, s.mu.changed
}

// use returns the nodes, which stay awake until release is called, or an error if they have stopped.
func (s *simulated) use(ctx context.Context, address string) (r *running, release func(), err error) {
	if s.sleeper == nil {
		if r, _ = s.get(); r == nil {
			return nil, nil, gone(address)
		}
		return r, func() {}, nil
	}
	if release, err = s.sleeper.hold(ctx); err != nil {
		return nil, nil, err
	}
	r, changed := s.get()
	for r == nil {
		select {
		case <-changed:
			r, changed = s.get()
		case <-ctx.Done():
			release()
			return nil, nil, gone(address)
		}
	}
	select {
	case <-r.nodes.Joined():
		return r, release, nil
	case <-ctx.Done():
		release()
		return nil, nil, ctx.Err()
	}
}

func (s *simulated) Simulates(ip netip.Addr) bool { return s.options.Simulates(ip) }

func (s *simulated) Defines(ctx context.Context, address string) bool {
	r, release, err := s.use(ctx, address)
	if err != nil {
		return false
	}
	defer release()
	return r.nodes.Kubelet().Defines(address)
}

func (s *simulated) DialPod(ctx context.Context, address string) (net.Conn, error) {
	return s.dial(ctx, address, func(r *running) (net.Conn, error) { return r.nodes.Kubelet().Dial(ctx, address) })
}

func (s *simulated) DialKubelet(ctx context.Context, address string) (net.Conn, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	return s.dial(ctx, address, func(r *running) (net.Conn, error) {
		return r.kubelets.Dial(ctx, net.TCPAddrFromAddrPort(at), net.TCPAddrFromAddrPort(netip.AddrPort{}))
	})
}

// dial connects to a node, which stays awake until the connection is closed.
func (s *simulated) dial(ctx context.Context, address string, connect func(*running) (net.Conn, error)) (net.Conn, error) {
	r, release, err := s.use(ctx, address)
	if err != nil {
		return nil, err
	}
	c, err := connect(r)
	if err != nil {
		release()
		return nil, err
	}
	return held{c, release}, nil
}

// held is a connection that keeps the nodes awake.
type held struct {
	net.Conn
	release func()
}

func (h held) Close() error {
	h.release()
	return h.Conn.Close()
}

// gone returns the error for an address of nodes that have stopped.
func gone(address string) error {
	return fmt.Errorf("dial %s: the nodes that were simulated here have stopped", address)
}
