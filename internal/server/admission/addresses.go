package admission

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/resource/networking"
)

// Cluster IPs are allocated from the ranges of ServiceCIDRs, as in kube-apiserver (KEP 1880). An address is
// allocated if an IPAddress of its name exists. The IPAddress of a Service is created and deleted in one
// transaction with the Service, so no other server can allocate the address meanwhile, and neither object ever
// exists without the other.

var (
	serviceCIDRs = schema.GroupResource{Group: networkingv1.GroupName, Resource: "servicecidrs"}
	ipAddresses  = schema.GroupResource{Group: networkingv1.GroupName, Resource: "ipaddresses"}
)

var (
	// errOutside and errTaken have kube-apiserver's words.
	errOutside = errors.New("the provided network does not match the current range")
	errTaken   = errors.New("provided IP is already allocated")
)

// addresses are the addresses of one range, without its network address and, for IPv4, its broadcast address.
type addresses struct {
	prefix netip.Prefix
	size   uint64
	// The lowest addresses are allocated on request only, or when all others are in use.
	low uint64
}

func newAddresses(p netip.Prefix) addresses {
	p = p.Masked()
	size := uint64(1)<<min(p.Addr().BitLen()-p.Bits(), 63) - 1
	if p.Addr().Is4() && size > 0 {
		size--
	}
	return addresses{prefix: p, size: size, low: uint64(lowBand(int(min(size, 1<<30)), 256))}
}

// has reports whether the range contains the address.
func (a addresses) has(ip netip.Addr) bool {
	return a.prefix.Contains(ip) && low64(ip)-low64(a.prefix.Addr())-1 < a.size
}

// at returns the address with an index in the range; the first has 0.
func (a addresses) at(n uint64) netip.Addr {
	b := a.prefix.Addr().As16()
	binary.BigEndian.PutUint64(b[8:], low64(a.prefix.Addr())+n+1)
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

// next returns a free address. It searches from a random one on.
func (a addresses) next(ctx context.Context, taken func(netip.Addr) (bool, error)) (netip.Addr, error) {
	for _, band := range [][2]uint64{{a.low, a.size}, {0, a.low}} {
		n := band[1] - band[0]
		if n == 0 {
			continue
		}
		start := rand.Uint64N(n)
		for i := range n {
			ip := a.at(band[0] + (start+i)%n)
			is, err := taken(ip)
			if err == nil && is {
				err = ctx.Err()
			}
			if err != nil {
				return netip.Addr{}, err
			}
			if !is {
				return ip, nil
			}
		}
	}
	return netip.Addr{}, errFull
}

// ranges returns the ranges of a family from which addresses may be allocated: those of ServiceCIDRs that are
// neither terminating nor unready, the oldest first.
func (t *allocation) ranges(f corev1.IPFamily) (list []addresses, err error) {
	objs, err := t.a.lookup.List(t.ctx, serviceCIDRs, "")
	if err != nil {
		return nil, err
	}
	var all []*networkingv1.ServiceCIDR
	for _, obj := range objs {
		if c := obj.(*networkingv1.ServiceCIDR); c.DeletionTimestamp == nil && !unready(c) {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b *networkingv1.ServiceCIDR) int {
		return a.CreationTimestamp.Time.Compare(b.CreationTimestamp.Time)
	})
	for _, c := range all {
		for _, text := range c.Spec.CIDRs {
			if p, err := netip.ParsePrefix(text); err == nil && familyOf(p.Addr()) == f {
				list = append(list, newAddresses(p))
			}
		}
	}
	return list, nil
}

// unready reports whether the condition Ready is present and not true. A range without the condition counts as
// ready, because there may be no controller that sets it.
func unready(c *networkingv1.ServiceCIDR) bool {
	return slices.ContainsFunc(c.Status.Conditions, func(is metav1.Condition) bool {
		return is.Type == networkingv1.ServiceCIDRConditionReady && is.Status != metav1.ConditionTrue
	})
}

// isTaken reports whether the address has an IPAddress, or will have one if an in-flight request of this server
// succeeds.
func (t *allocation) isTaken(ip netip.Addr) (bool, error) {
	if t.a.mu.inFlight[holding{ip: ip}] {
		return true, nil
	}
	_, err := t.a.lookup.Get(t.ctx, ipAddresses, "", ip.String())
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// takeAddress allocates an address that the service requests.
func (t *allocation) takeAddress(ip netip.Addr) error {
	h := holding{ip: ip}
	if slices.Contains(held(t.old), h) {
		return nil
	}
	ranges, err := t.ranges(familyOf(ip))
	if err != nil {
		return err
	}
	switch within := slices.ContainsFunc(ranges, func(r addresses) bool { return r.has(ip) }); {
	case within && t.r.DryRun:
		return nil
	case t.r.DryRun && len(ranges) > 0:
		return fmt.Errorf("the provided IP (%s) is not in the valid range. The range of valid IPs is %s", ip, ranges[0].prefix)
	case !within:
		return errOutside
	}
	is, err := t.isTaken(ip)
	switch {
	case err != nil:
		return err
	case is:
		return errTaken
	}
	t.took(h)
	return nil
}

// anyAddress allocates an arbitrary address.
func (t *allocation) anyAddress(f corev1.IPFamily) (netip.Addr, error) {
	ranges, err := t.ranges(f)
	if err == nil {
		err = errFull // if there are no ranges
	}
	for _, r := range ranges {
		if t.r.DryRun {
			return r.prefix.Addr(), nil
		}
		var ip netip.Addr
		if ip, err = r.next(t.ctx, t.isTaken); err == nil {
			t.took(holding{ip: ip})
			return ip, nil
		}
		if !errors.Is(err, errFull) {
			break
		}
	}
	return netip.Addr{}, err
}

// along writes IPAddresses together with the service: it creates those of allocated addresses and deletes those of
// released ones, if they belong to the service. It also deletes the reservations of released ports.
func (t *allocation) along() error {
	for _, h := range t.taken {
		if h.ip.IsValid() {
			t.r.Along(Companion{Resource: ipAddresses, Object: networking.NewIPAddress(h.ip, t.svc)})
		}
	}
	for _, h := range t.freed {
		if !h.ip.IsValid() {
			if n, err := t.a.port(h); err == nil && t.a.reserved != nil {
				t.r.Reserve(Reservation{Key: t.portKey(n)})
			}
			continue
		}
		obj, err := t.a.lookup.Get(t.ctx, ipAddresses, "", h.ip.String())
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		if a := obj.(*networkingv1.IPAddress); networking.BelongsTo(a, t.svc) {
			t.r.Along(Companion{Resource: ipAddresses, Object: a, Delete: true})
		}
	}
	return nil
}
