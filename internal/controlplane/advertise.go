package controlplane

import (
	"net"
	"net/netip"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// advertised returns the address at which other machines reach the server: that of
// --advertise-address or --listen. As with kube-apiserver, a server that listens on all
// addresses is reached at the address of the default route's interface; without such a route
// at another address of the machine, or at the loopback address if it has no other.
func advertised(o Options, listens net.Addr) (netip.AddrPort, error) {
	at := listens.(*net.TCPAddr).AddrPort()
	if o.AdvertiseAddress != "" {
		ip, err := netip.ParseAddr(o.AdvertiseAddress)
		if err != nil || ip.IsUnspecified() || ip.IsMulticast() || ip.Zone() != "" {
			return netip.AddrPort{}, optionErrorf("--advertise-address: %q is not an IP address that other machines could reach", o.AdvertiseAddress)
		}
		return netip.AddrPortFrom(ip.Unmap(), at.Port()), nil
	}
	ip := at.Addr().Unmap()
	if !ip.IsUnspecified() {
		return netip.AddrPortFrom(ip, at.Port()), nil
	}
	if found, err := utilnet.ResolveBindAddress(net.IP(ip.AsSlice())); err == nil {
		if routed, ok := netip.AddrFromSlice(found); ok {
			return netip.AddrPortFrom(routed.Unmap(), at.Port()), nil
		}
	}
	for _, text := range machineAddresses() {
		if own := netip.MustParseAddr(text); own.IsGlobalUnicast() && (own.Is4() || ip.Is6()) {
			return netip.AddrPortFrom(own, at.Port()), nil
		}
	}
	return netip.AddrPortFrom(netip.MustParseAddr(defaultHost), at.Port()), nil
}

// machineAddresses are those of the machine's interfaces that have no zone.
func machineAddresses() (list []string) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok {
			if ip, ok := netip.AddrFromSlice(n.IP); ok && !ip.IsLinkLocalUnicast() {
				list = append(list, ip.Unmap().String())
			}
		}
	}
	return list
}
