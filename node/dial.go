package node

import (
	"context"
	"net"
	"net/netip"
)

// IsKubelet says whether an address, host and port, is that of one of the nodes.
func (ns *Nodes) IsKubelet(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	all := ns.all.Load()
	if all == nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	for _, k := range *all {
		if k.ip == ip {
			return true
		}
	}
	return false
}

// IsPod says whether an address, host and port, is one that the nodes give to pods.
func (ns *Nodes) IsPod(address string) bool {
	a, err := netip.ParseAddrPort(address)
	return err == nil && ns.options.PodCIDR.Contains(a.Addr())
}

// DialPod connects to a port of a pod by its address.
func (ns *Nodes) DialPod(ctx context.Context, address string) (net.Conn, error) {
	return ns.served.Dial(ctx, address)
}
