package controlplane

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"fairlead.dev/node"
	"fairlead.dev/server"
)

// simulated leads the server to the simulated nodes of its own process, whose addresses
// lead nowhere outside. What is not theirs is dialled.
type simulated struct{ now atomic.Pointer[running] }

// running are the nodes that run here.
type running struct {
	nodes    *node.Nodes
	kubelets *pipes
}

// set says which nodes run here from now on; nil for none.
func (s *simulated) set(r *running) { s.now.Store(r) }

func (s *simulated) backends() server.Backends {
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	transport := func(dial func(ctx context.Context, network, address string) (net.Conn, error)) *http.Transport {
		return &http.Transport{
			DialContext: dial, IdleConnTimeout: 90 * time.Second,
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		}
	}
	return server.Backends{
		Kubelets: transport(func(ctx context.Context, network, address string) (net.Conn, error) {
			if r := s.now.Load(); r != nil && r.nodes.IsKubelet(address) {
				return r.kubelets.Dial(ctx, address)
			}
			return dialer.DialContext(ctx, network, address)
		}),
		Pods: transport(func(ctx context.Context, network, address string) (net.Conn, error) {
			if r := s.now.Load(); r != nil && r.nodes.IsPod(address) {
				return r.nodes.DialPod(ctx, address)
			}
			return dialer.DialContext(ctx, network, address)
		}),
	}
}
