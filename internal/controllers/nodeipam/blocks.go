package nodeipam

import "net/netip"

// blocks are the blocks of a range, by number.
type blocks struct {
	Range
	// uses counts the prefixes that overlap each block; a block without any is free.
	uses map[uint64]int
	// next is where the search for a free block begins.
	next uint64
}

func newBlocks(r Range) *blocks { return &blocks{Range: r, uses: map[uint64]int{}} }

// count returns the number of blocks.
func (b *blocks) count() uint64 { return 1 << (b.Bits - b.Prefix.Bits()) }

// block returns the n-th block.
func (b *blocks) block(n uint64) netip.Prefix {
	bytes := b.Addr().AsSlice()
	for bit := b.Bits - 1; bit >= b.Prefix.Bits(); bit-- {
		bytes[bit/8] |= byte(n&1) << (7 - bit%8)
		n >>= 1
	}
	ip, _ := netip.AddrFromSlice(bytes)
	return netip.PrefixFrom(ip, b.Bits)
}

// number returns the number of the block that has an address of the range.
func (b *blocks) number(ip netip.Addr) (n uint64) {
	bytes := ip.AsSlice()
	for bit := b.Prefix.Bits(); bit < b.Bits; bit++ {
		n = n<<1 | uint64(bytes[bit/8]>>(7-bit%8)&1)
	}
	return n
}

// use adds to the uses of the blocks that a prefix overlaps.
func (b *blocks) use(p netip.Prefix, more int) {
	if !b.Overlaps(p) {
		return
	}
	first, end := uint64(0), b.count()
	if p.Bits() > b.Prefix.Bits() {
		first = b.number(p.Addr())
		end = first + 1<<max(0, b.Bits-p.Bits())
	}
	for n := first; n < end; n++ {
		if b.uses[n] += more; b.uses[n] == 0 {
			delete(b.uses, n)
		}
	}
}

// free returns the next free block that excluded does not refuse; false if there is none.
func (b *blocks) free(excluded func(netip.Prefix) bool) (netip.Prefix, bool) {
	count := b.count()
	if uint64(len(b.uses)) == count {
		return netip.Prefix{}, false
	}
	for range count {
		n := b.next
		b.next = (n + 1) % count
		if p := b.block(n); b.uses[n] == 0 && !excluded(p) {
			return p, true
		}
	}
	return netip.Prefix{}, false
}
