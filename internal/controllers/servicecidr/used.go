package servicecidr

import (
	"net/netip"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
)

// allocator is the label of IPAddresses that servers create for services.
const allocator = "ipallocator.k8s.io"

// used reports whether a range has addresses in use that no other one contains.
func (r *ranges) used(c *networkingv1.ServiceCIDR) bool {
	var others []netip.Prefix
	for _, o := range r.all.Store().List("") {
		if o.Name != c.Name {
			others = append(others, prefixes(o)...)
		}
	}
	mine := prefixes(c)
	if !slices.ContainsFunc(mine, func(p netip.Prefix) bool { return !within(p, others) }) {
		return false // others contain all of it
	}
	return slices.ContainsFunc(r.addresses.Store().List(""), func(a *networkingv1.IPAddress) bool {
		return a.Labels[networkingv1.LabelManagedBy] == allocator && held(a.Name, mine, others)
	})
}

func prefixes(c *networkingv1.ServiceCIDR) (all []netip.Prefix) {
	for _, text := range c.Spec.CIDRs {
		if p, err := netip.ParsePrefix(text); err == nil {
			all = append(all, p.Masked())
		}
	}
	return all
}

// within reports whether one of the others contains the prefix.
func within(p netip.Prefix, others []netip.Prefix) bool {
	return slices.ContainsFunc(others, func(o netip.Prefix) bool { return o.Overlaps(p) && o.Bits() <= p.Bits() })
}

// held reports whether an address can be allocated from one of mine, and not from others.
func held(text string, mine, others []netip.Prefix) bool {
	ip, err := netip.ParseAddr(text)
	gives := func(p netip.Prefix) bool { return gives(p, ip) }
	return err == nil && slices.ContainsFunc(mine, gives) && !slices.ContainsFunc(others, gives)
}

// gives reports whether an address can be allocated from a range: all but the first, and the last of IPv4.
func gives(p netip.Prefix, ip netip.Addr) bool {
	return p.Contains(ip) && ip != p.Addr() && (ip.Is6() || p.Contains(ip.Next()))
}
