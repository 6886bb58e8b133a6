package serviceloadbalancer

import (
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Pool is the addresses that Services get: the ranges, each without its first and, of IPv4, its last address.
type Pool []netip.Prefix

// ParsePool returns the pool of ranges such as 192.0.2.0/24.
func ParsePool(ranges []string) (Pool, error) {
	var pool Pool
	for _, text := range ranges {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, err
		}
		if at := slices.IndexFunc(pool, p.Overlaps); at >= 0 {
			return nil, fmt.Errorf("the range %s overlaps %s", p, pool[at])
		}
		pool = append(pool, p.Masked())
	}
	return pool, nil
}

// contains reports whether a Service may get an address.
func (p Pool) contains(ip netip.Addr) bool {
	return slices.ContainsFunc(p, func(r netip.Prefix) bool { return gives(r, ip) })
}

// has reports whether the pool has a range of a family.
func (p Pool) has(f corev1.IPFamily) bool {
	return slices.ContainsFunc(p, func(r netip.Prefix) bool { return familyOf(r.Addr()) == f })
}

// free returns the first address of a family that is not taken.
func (p Pool) free(f corev1.IPFamily, taken func(netip.Addr) bool) (netip.Addr, bool) {
	for _, r := range p {
		if familyOf(r.Addr()) != f {
			continue
		}
		for ip := r.Addr(); r.Contains(ip); ip = ip.Next() {
			if gives(r, ip) && !taken(ip) {
				return ip, true
			}
		}
	}
	return netip.Addr{}, false
}

// gives reports whether an address is in a range and not reserved. A range of one or two addresses has no reserved ones.
func gives(r netip.Prefix, ip netip.Addr) bool {
	if !r.Contains(ip) {
		return false
	}
	if r.Bits() >= ip.BitLen()-1 {
		return true
	}
	return ip != r.Addr() && (ip.Is6() || r.Contains(ip.Next()))
}

func familyOf(ip netip.Addr) corev1.IPFamily {
	if ip.Is4() {
		return corev1.IPv4Protocol
	}
	return corev1.IPv6Protocol
}
