package nodeipam

import (
	"errors"
	"fmt"
	"net/netip"
)

// Options configure the controller. Without Ranges there is nothing to allocate.
type Options struct {
	// Ranges are the cluster's ranges of pod addresses, at most one of each family. A node gets a block of each.
	Ranges []Range
}

// Range is a range of pod addresses, in blocks whose prefixes have a length of Bits.
type Range struct {
	netip.Prefix
	Bits int
}

// Sizes are the lengths of the prefixes of nodes, as in the flags --node-cidr-mask-size, -ipv4 and -ipv6; 0 is not set.
type Sizes struct{ Any, IPv4, IPv6 int }

// The lengths for Sizes that are not set.
const (
	defaultIPv4 = 24
	defaultIPv6 = 64
)

// maxIPv6Split is how much longer a node's prefix may be than the cluster's, in IPv6.
const maxIPv6Split = 16

// Ranges returns the ranges for the flags of kube-controller-manager, or an error that names the flag.
func Ranges(clusterCIDRs []string, sizes Sizes) ([]Range, error) {
	var all []Range
	for _, text := range clusterCIDRs {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("--cluster-cidr: %w", err)
		}
		all = append(all, Range{Prefix: p.Masked()})
	}
	switch {
	case len(all) > 2:
		return nil, fmt.Errorf("--cluster-cidr: %d ranges; want one, or one of IPv4 and one of IPv6", len(all))
	case len(all) == 2 && all[0].Addr().Is4() == all[1].Addr().Is4():
		return nil, errors.New("--cluster-cidr: both ranges are of one family; want one of IPv4 and one of IPv6")
	}
	if err := sizes.check(all); err != nil {
		return nil, err
	}
	for i := range all {
		if err := all[i].split(sizes); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// check returns an error for sizes that do not go with the families of the ranges.
func (s Sizes) check(ranges []Range) error {
	switch {
	case s.Any != 0 && len(ranges) == 2:
		return errors.New("--node-cidr-mask-size is not for two ranges; use --node-cidr-mask-size-ipv4 and --node-cidr-mask-size-ipv6")
	case s.Any != 0 && (s.IPv4 != 0 || s.IPv6 != 0):
		return errors.New("--node-cidr-mask-size excludes --node-cidr-mask-size-ipv4 and --node-cidr-mask-size-ipv6")
	case s.IPv4 != 0 && len(ranges) == 1 && ranges[0].Addr().Is6():
		return errors.New("--node-cidr-mask-size-ipv4: the cluster has no IPv4 range")
	case s.IPv6 != 0 && len(ranges) == 1 && ranges[0].Addr().Is4():
		return errors.New("--node-cidr-mask-size-ipv6: the cluster has no IPv6 range")
	}
	return nil
}

// split sets the length of the range's blocks.
func (r *Range) split(s Sizes) error {
	flag, set, or := "--node-cidr-mask-size-ipv4", s.IPv4, defaultIPv4
	if r.Addr().Is6() {
		flag, set, or = "--node-cidr-mask-size-ipv6", s.IPv6, defaultIPv6
	}
	if s.Any != 0 {
		flag, set = "--node-cidr-mask-size", s.Any
	}
	if r.Bits = set; set == 0 {
		r.Bits = or
	}
	switch most := r.Addr().BitLen(); {
	case r.Bits < r.Prefix.Bits() || r.Bits > most:
		return fmt.Errorf("%s=%d: want %d to %d for the range %s", flag, r.Bits, r.Prefix.Bits(), most, r.Prefix)
	case r.Addr().Is6() && r.Bits > r.Prefix.Bits()+maxIPv6Split:
		return fmt.Errorf("%s=%d: want at most %d for the range %s", flag, r.Bits, r.Prefix.Bits()+maxIPv6Split, r.Prefix)
	}
	return nil
}
