package servicecidr

import (
	"net/netip"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
)

// allocator is the label of IPAddresses that a server made for its services.
const allocator = "ipallocator.k8s.io"

// used reports whether a range holds addresses that no other one does.
func (r *ranges) used(c *networkingv1.ServiceCIDR) bool {
	var others []netip.Prefix
	for _, o := range r.all.Store().List("") {
		if o.Name != c.Name {
			others = append(others, prefixes(o)...)
		}
	}
	mine := prefixes(c)
	if !slices.ContainsFunc(mine, func(p netip.Prefix) bool { return !within(p, others) }) {
		return false // all that is in it is in others as well
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

// within reports whether one of the others has all of a prefix.
func within(p netip.Prefix, others []netip.Prefix) bool {
	return slices.ContainsFunc(others, func(o netip.Prefix) bool { return o.Overlaps(p) && o.Bits() <= p.Bits() })
}

// held reports whether an address is one that some of mine gives out, and none of others.
func held(text string, mine, others []netip.Prefix) bool {
	ip, err := netip.ParseAddr(text)
	gives := func(p netip.Prefix) bool { return gives(p, ip) }
	return err == nil && slices.ContainsFunc(mine, gives) && !slices.ContainsFunc(others, gives)
}

// gives reports whether an address is one that a range gives out: all but the first, and
// the last of IPv4.
func gives(p netip.Prefix, ip netip.Addr) bool {
	return p.Contains(ip) && ip != p.Addr() && (ip.Is6() || p.Contains(ip.Next()))
}
