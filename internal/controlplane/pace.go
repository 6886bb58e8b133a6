package controlplane

import "time"

// pace is how often the parts of a control plane work without an event. Zero members are their defaults.
type pace struct {
	// rareHeartbeats is RareHeartbeats of the nodes, and HonorLeases of the node lifecycle controller.
	rareHeartbeats bool
	// bookmarks is the time between a watch's bookmarks, watches that after which an informer opens its watch anew, and
	// rediscovery that after which the garbage collector reads discovery.
	bookmarks, watches, rediscovery time.Duration
	// lease is the time between two renewals of the API server's Lease.
	lease time.Duration
}

// rareLease is the time between two renewals of a Lease that is rarely renewed, which nodes have, too.
const rareLease = serverLeaseTime / 4

// pace returns the pace of the options.
func (o Options) pace() pace {
	switch {
	case o.VirtualTime:
	case o.sleeps():
		return pace{rareHeartbeats: true, lease: rareLease}
	default:
		return pace{lease: serverLeaseRenewal}
	}
	return pace{rareHeartbeats: true, lease: rareLease, bookmarks: time.Hour, watches: 24 * time.Hour, rediscovery: 24 * time.Hour}
}
