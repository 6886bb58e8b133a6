package reach

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/internal/nodekind"
)

// declarations is the ConfigMap in kube-system in which simulated nodes declare their addresses. Package node
// writes it.
const declarations = "fairlead-simulated-nodes"

// SimulatedError reports that a connection was refused because the address is simulated.
type SimulatedError struct{ message string }

func (e *SimulatedError) Error() string { return e.message }

// remedy returns the end of the message of an error about an address.
func (n *Network) remedy(ip netip.Addr) string {
	if n.local != nil && n.local.Simulates(ip) {
		return "no packet was sent. A PortForward or ClusterPortForward declares what answers for a pod (docs/nodes.md, Webhooks on simulated pods)"
	}
	return "no packet was sent. Its node is simulated by another process, which this API server cannot reach (docs/nodes.md, Webhooks on simulated pods)"
}

// guard returns an error if no packet may be sent to an address, a numeric host and a port.
func (n *Network) guard(ctx context.Context, address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil // not a packet network
	}
	ip := at.Addr().Unmap()
	all, err := n.declared(ctx)
	if err != nil {
		return err
	}
	if n.local != nil && n.local.Simulates(ip) || all.contain(ip) {
		return &SimulatedError{fmt.Sprintf("the address %s belongs to simulated nodes and their pods; %s", ip, n.remedy(ip))}
	}
	if len(all) == 0 {
		return nil
	}
	is, err := n.isClusterIP(ctx, ip)
	if err == nil && is {
		err = &SimulatedError{fmt.Sprintf("the address %s is of the range of cluster IPs, where nodes are simulated; no packet was sent", ip)}
	}
	return err
}

// Proxied is http.ProxyFromEnvironment, but never makes a proxy forward to a simulated address.
func (n *Network) Proxied(req *http.Request) (*url.URL, error) {
	via, err := http.ProxyFromEnvironment(req)
	if ip, parsed := netip.ParseAddr(req.URL.Hostname()); via != nil && parsed == nil {
		if err := n.guard(req.Context(), netip.AddrPortFrom(ip, 0).String()); err != nil {
			return nil, err
		}
	}
	return via, err
}

// span is a range of addresses, both ends included.
type span struct{ first, last netip.Addr }

type spans []span

func (s spans) contain(ip netip.Addr) bool {
	for _, r := range s {
		if r.first.Compare(ip) <= 0 && ip.Compare(r.last) <= 0 {
			return true
		}
	}
	return false
}

// declared returns the addresses that simulated nodes have declared.
func (n *Network) declared(ctx context.Context) (all spans, err error) {
	if n.lookup == nil {
		return nil, nil
	}
	obj, err := n.lookup.Get(ctx, corev1.Resource("configmaps"), "kube-system", declarations)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for name, text := range obj.(*corev1.ConfigMap).Data {
		for _, word := range strings.Fields(text) {
			s, err := parseSpan(word)
			if err != nil {
				return nil, fmt.Errorf("ConfigMap kube-system/%s: %s: %w", declarations, name, err)
			}
			all = append(all, s)
		}
	}
	return all, nil
}

// parseSpan parses a prefix, or two addresses with a hyphen between them.
func parseSpan(text string) (s span, err error) {
	first, last, ranged := strings.Cut(text, "-")
	if !ranged {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return s, err
		}
		return span{p.Masked().Addr(), lastOf(p)}, nil
	}
	if s.first, err = netip.ParseAddr(first); err == nil {
		s.last, err = netip.ParseAddr(last)
	}
	return s, err
}

// lastOf returns the last address of a prefix.
func lastOf(p netip.Prefix) netip.Addr {
	b := p.Masked().Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	last, _ := netip.AddrFromSlice(b)
	return last
}

// onSimulatedNode reports whether a node's pods are simulated. It returns false if the Node does not exist.
func (n *Network) onSimulatedNode(ctx context.Context, name string) (bool, error) {
	if name == "" || n.lookup == nil {
		return false, nil
	}
	obj, err := n.lookup.Get(ctx, corev1.Resource("nodes"), "", name)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return nodekind.IsSimulated(obj.(*corev1.Node)), nil
}

// isClusterIP reports whether an address is in the service IP ranges.
func (n *Network) isClusterIP(ctx context.Context, ip netip.Addr) (bool, error) {
	if n.lookup == nil {
		return false, nil
	}
	all, err := n.lookup.List(ctx, networkingv1.Resource("servicecidrs"), "")
	if apierrors.IsNotFound(err) {
		return false, nil // a server without that resource
	}
	for _, obj := range all {
		for _, text := range obj.(*networkingv1.ServiceCIDR).Spec.CIDRs {
			if p, err := netip.ParsePrefix(text); err == nil && p.Contains(ip) {
				return true, nil
			}
		}
	}
	return false, err
}
