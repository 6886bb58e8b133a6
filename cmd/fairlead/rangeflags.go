package main

import (
	"errors"
	"fmt"
	"slices"

	"fairlead.dev/internal/controllers/nodeipam"
	"fairlead.dev/internal/controllers/serviceloadbalancer"
	"fairlead.dev/internal/controlplane"
	"github.com/spf13/pflag"
)

// rangeFlags are the flags of the controllers that give addresses, under kube-controller-manager's names where it has
// the same.
type rangeFlags struct {
	allocate bool
	cluster  []string
	sizes    nodeipam.Sizes
	pool     []string
}

func (f *rangeFlags) register(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.cluster, "cluster-cidr", nil, "range of the addresses of pods, or one of IPv4 and one of IPv6, separated by a comma; each node without podCIDRs gets a part")
	flags.BoolVar(&f.allocate, "allocate-node-cidrs", false, "give nodes podCIDRs of --cluster-cidr (default with --cluster-cidr)")
	flags.IntVar(&f.sizes.Any, "node-cidr-mask-size", 0, "length of a node's prefix, if --cluster-cidr is one range (default 24, of IPv6 64)")
	flags.IntVar(&f.sizes.IPv4, "node-cidr-mask-size-ipv4", 0, "length of a node's IPv4 prefix (default 24)")
	flags.IntVar(&f.sizes.IPv6, "node-cidr-mask-size-ipv6", 0, "length of a node's IPv6 prefix (default 64)")
	flags.StringSliceVar(&f.pool, "load-balancer-pool", nil, "ranges of addresses for Services of type LoadBalancer, such as 192.0.2.0/24 (default: they get none)")
}

func (f *rangeFlags) load(flags *pflag.FlagSet) (r controlplane.Ranges, err error) {
	if r.Nodes.Ranges, err = nodeipam.Ranges(f.cluster, f.sizes); err != nil {
		return r, usageError{err}
	}
	if r.LoadBalancers.Pool, err = serviceloadbalancer.ParsePool(f.pool); err != nil {
		return r, usageError{fmt.Errorf("--load-balancer-pool: %w", err)}
	}
	for _, p := range r.LoadBalancers.Pool {
		if slices.ContainsFunc(r.Nodes.Ranges, func(n nodeipam.Range) bool { return n.Overlaps(p) }) {
			return r, usageError{fmt.Errorf("--load-balancer-pool: the range %s overlaps --cluster-cidr", p)}
		}
	}
	if !flags.Changed("allocate-node-cidrs") {
		return r, nil
	}
	if f.allocate && len(f.cluster) == 0 {
		return r, usageError{errors.New("--allocate-node-cidrs: --cluster-cidr is missing")}
	}
	if !f.allocate {
		r.Nodes.Ranges = nil
	}
	return r, nil
}
