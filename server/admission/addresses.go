package admission

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
)

// addresses is a pool of the addresses of one range. Its network address, and
// the broadcast address of an IPv4 range, are nobody's.
type addresses struct {
	*pool
	prefix netip.Prefix
	family corev1.IPFamily
}

// maxAddresses bounds the part of a large range that is given out.
const maxAddresses = 1 << 20

func newAddresses(p netip.Prefix) *addresses {
	p = p.Masked()
	a := &addresses{prefix: p, family: corev1.IPv4Protocol}
	bits := p.Addr().BitLen() - p.Bits()
	size := maxAddresses
	if bits < 20 {
		size = 1 << bits
	}
	size-- // the network address
	if p.Addr().Is6() {
		a.family = corev1.IPv6Protocol
	} else if bits < 20 {
		size-- // the broadcast address
	}
	a.pool = newPool(max(size, 0), lowBand(size, 256))
	return a
}

// index is the place of an address in the range, of which the first usable one
// has 0.
func (a *addresses) index(ip netip.Addr) (int, error) {
	if !a.prefix.Contains(ip) {
		return 0, errors.New("the provided network does not match the current range")
	}
	n := int(low64(ip)-low64(a.prefix.Addr())) - 1
	if n < 0 || n >= a.size {
		return 0, fmt.Errorf("provided IP is not in the valid range. The range of valid IPs is %s", a.prefix)
	}
	return n, nil
}

// at undoes index.
func (a *addresses) at(n int) netip.Addr {
	b := a.prefix.Addr().As16()
	binary.BigEndian.PutUint64(b[8:], binary.BigEndian.Uint64(b[8:])+uint64(n)+1)
	ip := netip.AddrFrom16(b)
	if a.prefix.Addr().Is4() {
		return ip.Unmap()
	}
	return ip
}

func low64(ip netip.Addr) uint64 {
	b := ip.As16()
	return binary.BigEndian.Uint64(b[8:])
}
