package addresses

import (
	"encoding/binary"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
)

// Both are the addresses of a node or a pod: the primary one, and in a dual-stack cluster that of the other family.
type Both struct{ First, Second netip.Addr }

// One returns the addresses of a node or pod with a single one.
func One(ip netip.Addr) Both { return Both{First: ip} }

// Strings returns the texts of the valid addresses.
func (b Both) Strings() []string {
	if !b.Second.IsValid() {
		return []string{b.First.String()}
	}
	return []string{b.First.String(), b.Second.String()}
}

// Families are the IP families of nodes and pods, the primary one first. Without any the family is IPv4.
type Families []corev1.IPFamily

// Pair returns an address of IPv4 and its counterpart of IPv6 in the order of the families, without families that the
// cluster lacks.
func (f Families) Pair(four, six netip.Addr) Both {
	all := Both{First: four}
	for i, family := range f {
		ip := four
		if family == corev1.IPv6Protocol {
			ip = six
		}
		if i == 0 {
			all = Both{First: ip}
		} else {
			all.Second = ip
		}
	}
	return all
}

// HaveIPv6 reports whether nodes and pods have addresses of IPv6.
func (f Families) HaveIPv6() bool {
	for _, family := range f {
		if family == corev1.IPv6Protocol {
			return true
		}
	}
	return false
}

// Embed returns the address of IPv6 that ends with the bits of one of IPv4; the prefix has at most 96 bits.
func Embed(in netip.Prefix, four netip.Addr) netip.Addr {
	b, low := in.Masked().Addr().As16(), four.As4()
	copy(b[12:], low[:])
	return netip.AddrFrom16(b)
}

// EmbedRange returns the range of IPv6 that holds the counterparts of a range of IPv4.
func EmbedRange(in, four netip.Prefix) netip.Prefix {
	return netip.PrefixFrom(Embed(in, four.Masked().Addr()), 96+four.Bits())
}

// Counterpart returns the address that is as far from the beginning of to as ip is from that of from, or the zero address if
// that is not in to.
func Counterpart(from, to netip.Prefix, ip netip.Addr) netip.Addr {
	distance := low(ip) - low(from.Masked().Addr())
	if bits := to.Addr().BitLen() - to.Bits(); bits < 32 && distance >= 1<<bits {
		return netip.Addr{}
	}
	if to.Addr().Is4() {
		var b [4]byte
		binary.BigEndian.PutUint32(b[:], low(to.Masked().Addr())+distance)
		return netip.AddrFrom4(b)
	}
	b := to.Masked().Addr().As16()
	binary.BigEndian.PutUint32(b[12:], binary.BigEndian.Uint32(b[12:])+distance)
	return netip.AddrFrom16(b)
}

// low returns the last 32 bits of an address.
func low(ip netip.Addr) uint32 {
	b := ip.As16()
	return binary.BigEndian.Uint32(b[12:])
}
