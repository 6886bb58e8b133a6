package node

import (
	"context"
	"fmt"
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/node/addresses"
)

// declarations is the ConfigMap in kube-system in which simulated nodes declare the addresses they invent:
// prefixes and ranges, separated by spaces, under the prefix of their names. Fairlead's API server sends no packet
// to these; see internal/server/reach.
const declarations = "fairlead-simulated-nodes"

// Simulates reports whether an address belongs to one of the nodes that the options describe, or to the range from
// which they give addresses to pods.
func (o Options) Simulates(ip netip.Addr) bool {
	o = o.complete()
	if o.Count == 0 && !o.Adopt {
		return false
	}
	first, last, made := o.own()
	within := func(pods netip.Prefix, first, last netip.Addr) bool {
		return pods.Contains(ip) || made && first.Compare(ip) <= 0 && ip.Compare(last) <= 0
	}
	if within(o.PodCIDR, first, last) {
		return true
	}
	if made {
		first, last = addresses.Embed(nodesSix, first), addresses.Embed(nodesSix, last)
	}
	return o.families().HaveIPv6() && within(o.six(o.PodCIDR), first, last)
}

// The addresses of IPv6 of nodes and pods end with the bits of those of IPv4, after these prefixes.
var (
	nodesSix = netip.MustParsePrefix("fd00:172:16::/96")
	podsSix  = netip.MustParsePrefix("fd00:10:128::/96")
)

// six returns the range of IPv6 of the counterparts of a range of pods; the zero value without addresses of IPv6.
func (o Options) six(pods netip.Prefix) netip.Prefix {
	if !o.families().HaveIPv6() {
		return netip.Prefix{}
	}
	return addresses.EmbedRange(podsSix, pods)
}

// own returns the first and last of the nodes' own addresses. made is false if they report the one at which their
// kubelets listen instead.
func (o Options) own() (first, last netip.Addr, made bool) {
	if o.Endpoint.IsValid() || o.Count == 0 {
		return first, last, false
	}
	first, err := o.address(0)
	if err != nil {
		return first, last, false
	}
	last, err = o.address(o.Count - 1)
	return first, last, err == nil
}

// declare tells the server which addresses are invented, before the first is used.
func (ns *Nodes) declare(ctx context.Context) error {
	spans := []string{ns.options.PodCIDR.Masked().String()}
	first, last, made := ns.options.own()
	if made {
		spans = append(spans, fmt.Sprintf("%s-%s", first, last))
	}
	if ns.options.families().HaveIPv6() {
		spans = append(spans, ns.options.six(ns.options.PodCIDR).String())
		if made {
			spans = append(spans, fmt.Sprintf("%s-%s", addresses.Embed(nodesSix, first), addresses.Embed(nodesSix, last)))
		}
	}
	return ns.declareAs(ctx, strings.TrimRight(ns.options.NamePrefix, "-."), strings.Join(spans, " "))
}

func (ns *Nodes) declareAs(ctx context.Context, key, spans string) error {
	maps := client.For[*corev1.ConfigMap](ns.env.Client).Namespace(metav1.NamespaceSystem)
	data := map[string]string{key: spans}
	_, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: declarations}, Data: data})
	if apierrors.IsAlreadyExists(err) {
		_, err = maps.Patch(ctx, declarations, client.MergePatch(map[string]any{"data": data}))
	}
	if err != nil {
		err = fmt.Errorf("declaring simulated addresses: %w", err)
	}
	return err
}
