// Package addresses allocates the addresses of simulated nodes and their pods. Its functions are not safe for
// concurrent use of one Pool.
package addresses

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"net/netip"
)

// Offset returns the address n after that of a prefix, which must hold it.
func Offset(p netip.Prefix, n uint64) (netip.Addr, error) {
	if !p.Addr().Is4() {
		return netip.Addr{}, fmt.Errorf("node: %s is not an IPv4 range", p)
	}
	if n >= 1<<(32-p.Bits()) {
		return netip.Addr{}, fmt.Errorf("node: %s has no room for %d addresses", p, n+1)
	}
	b := p.Masked().Addr().As4()
	binary.BigEndian.PutUint32(b[:], binary.BigEndian.Uint32(b[:])+uint32(n))
	return netip.AddrFrom4(b), nil
}

// PodRange returns n slots of the pod addresses, a power of two, from the i-th on, of which i is a multiple. A slot has addresses for
// twice the pods of a node: with 110 pods it is a /24.
func PodRange(all netip.Prefix, i int, pods int64, n int) (netip.Prefix, error) {
	width := slotWidth(pods)
	a, err := Offset(all, uint64(i)<<width)
	if err != nil && all.Addr().Is4() {
		err = fmt.Errorf("node: %s has addresses for %d nodes of %d pods; there can be more nodes of fewer pods", all, 1<<(32-all.Bits())>>width, pods)
	}
	if err != nil {
		return netip.Prefix{}, err
	}
	return netip.PrefixFrom(a, 32-width-bits.TrailingZeros(uint(n))), nil
}

// slotWidth returns the number of bits of the addresses in a slot, for nodes with a number of pods.
func slotWidth(pods int64) int { return bits.Len64(uint64(2*pods + 2)) }

// Slots returns how many slots, a power of two, a node with a number of pods takes where slots are for usual ones.
func Slots(pods, usual int64) int { return 1 << max(0, slotWidth(pods)-slotWidth(usual)) }

// Slot returns the slot of an address, where slots are for a number of pods; -1 for an address outside of the range.
func Slot(all netip.Prefix, ip netip.Addr, pods int64) int {
	if !ip.Is4() || !all.Contains(ip) {
		return -1
	}
	b, first := ip.As4(), all.Masked().Addr().As4()
	return int((binary.BigEndian.Uint32(b[:]) - binary.BigEndian.Uint32(first[:])) >> slotWidth(pods))
}

// Pool allocates the addresses of a range. It goes through the whole range before it reuses an address, so
// that a freed one is not reused at once.
type Pool struct {
	from netip.Prefix
	six  netip.Prefix // invalid without addresses of IPv6
	used map[netip.Addr]bool
	next uint64 // 0 is the range itself, 1 its gateway
}

// New returns a pool of a range of IPv4, of which no address is taken. With a range six each address has a counterpart of IPv6
// there.
func New(from, six netip.Prefix) *Pool {
	return &Pool{from: from, six: six, used: map[netip.Addr]bool{}, next: 2}
}

// Six returns the counterpart of an address, invalid without a range of IPv6.
func (a *Pool) Six(ip netip.Addr) netip.Addr {
	if !a.six.IsValid() || !ip.IsValid() {
		return netip.Addr{}
	}
	return Counterpart(a.from, a.six, ip)
}

// Four returns the address whose counterpart ip is, or ip if that is of IPv4.
func (a *Pool) Four(ip netip.Addr) netip.Addr {
	if ip.Is4() || !a.six.IsValid() || !a.six.Contains(ip) {
		return ip
	}
	return Counterpart(a.six, a.from, ip)
}

// Ranges returns the range of the pool and that of the counterparts.
func (a *Pool) Ranges() (four, six netip.Prefix) { return a.from, a.six }

// Take returns a free address, or an error if all are in use.
func (a *Pool) Take() (netip.Addr, error) {
	size := uint64(1) << (a.from.Addr().BitLen() - a.from.Bits())
	for range size {
		if a.next >= size-1 { // the last is for broadcast
			a.next = 2
		}
		ip, err := Offset(a.from, a.next)
		if err != nil {
			return ip, err
		}
		a.next++
		if !a.used[ip] {
			a.used[ip] = true
			return ip, nil
		}
	}
	return netip.Addr{}, fmt.Errorf("node: no free address in %s", a.from)
}

// Reserve marks an address as taken.
func (a *Pool) Reserve(ip netip.Addr) { a.used[ip] = true }

// Free gives an address back.
func (a *Pool) Free(ip netip.Addr) { delete(a.used, ip) }
