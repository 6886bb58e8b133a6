package endpointslice

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/controller"
)

// overload is by how much more than its share an endpoint may be used.
const overload = 0.2

// balanced says whether a Service asks for its endpoints to be shared out among the zones.
func balanced(svc *corev1.Service) bool {
	mode, ok := svc.Annotations[corev1.DeprecatedAnnotationTopologyAwareHints] //nolint:staticcheck // it goes before the other
	if !ok {
		mode = svc.Annotations[corev1.AnnotationTopologyMode]
	}
	return mode == "Auto" || mode == "auto"
}

// shares are what part of the CPU of the ready nodes each zone has; nil if that is not
// known of each node, or if there are no two zones.
func shares(nodes []*corev1.Node) map[string]float64 {
	zones, total := map[string]float64{}, 0.0
	for _, n := range nodes {
		if !bears(n) {
			continue
		}
		zone, cpu := n.Labels[corev1.LabelTopologyZone], n.Status.Allocatable.Cpu().MilliValue()
		if zone == "" || cpu == 0 {
			return nil
		}
		zones[zone] += float64(cpu)
		total += float64(cpu)
	}
	if len(zones) < 2 {
		return nil
	}
	for zone := range zones {
		zones[zone] /= total
	}
	return zones
}

// bears says whether a node counts for the shares.
func bears(n *corev1.Node) bool {
	for _, role := range []string{"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"} {
		if _, ok := n.Labels[role]; ok {
			return false
		}
	}
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// share gives the ready ones of endpoints of one family hints, so that each zone is served
// by as many as its share asks for: those of its own, and of others what it lacks. before
// are the zones that they are for now: of several ways it takes the one that changes less.
// If it cannot be done, no endpoint has hints, and why says the reason.
func share(endpoints []*discoveryv1.Endpoint, shares map[string]float64, before map[types.UID]string) (why string) {
	endpoints = slices.DeleteFunc(slices.Clone(endpoints), func(ep *discoveryv1.Endpoint) bool { return !*ep.Conditions.Ready })
	n := len(endpoints)
	switch {
	case shares == nil:
		return "Insufficient Node information: allocatable CPU or zone not specified on one or more nodes"
	case len(shares) > n:
		return fmt.Sprintf("Insufficient number of endpoints (%d endpoints, %d zones)", n, len(shares))
	}
	surplus, least := map[string]float64{}, 0
	for zone, part := range shares {
		desired := part * float64(n)
		minimum := math.Ceil(desired / (1 + overload))
		least += int(minimum)
		surplus[zone] = -max(desired, minimum)
	}
	if least > n {
		return fmt.Sprintf("Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (%d endpoints, %d zones)", n, len(shares))
	}
	for _, ep := range endpoints {
		if ep.Zone == nil {
			return "One or more endpoints do not have a zone specified"
		}
		if _, ok := surplus[*ep.Zone]; ok {
			surplus[*ep.Zone]++
		}
	}
	gives, takes := moves(surplus)
	for _, ep := range endpoints {
		ep.Hints = &discoveryv1.EndpointHints{ForZones: []discoveryv1.ForZone{{Name: *ep.Zone}}}
	}
	move := func(ep *discoveryv1.Endpoint, to string) {
		if gives[*ep.Zone] > 0 && takes[to] > 0 && ep.Hints.ForZones[0].Name == *ep.Zone {
			gives[*ep.Zone]--
			takes[to]--
			ep.Hints.ForZones[0].Name = to
		}
	}
	for _, ep := range endpoints {
		move(ep, before[ep.TargetRef.UID])
	}
	for _, ep := range endpoints {
		for _, zone := range slices.Sorted(maps.Keys(takes)) {
			move(ep, zone)
		}
	}
	return ""
}

// moves are how many endpoints zones give to others and take from them, in whole ones, until
// those that have too many, or too few, have less than a half of one.
func moves(surplus map[string]float64) (gives, takes map[string]int) {
	gives, takes = map[string]int{}, map[string]int{}
	zones := slices.Sorted(maps.Keys(surplus))
	for {
		by := func(a, b string) int { return cmp.Compare(surplus[a], surplus[b]) }
		rich, poor := slices.MaxFunc(zones, by), slices.MinFunc(zones, by)
		more, less := surplus[rich], -surplus[poor]
		if more < 0.5 || less < 0.5 || more < 1 && less < 1 {
			return gives, takes
		}
		gives[rich]++
		surplus[rich]--
		takes[poor]++
		surplus[poor]++
	}
}

// balance shares out a Service's endpoints if it asks for that, and tells when that begins,
// ends, and cannot be.
func (c *controllerState) balance(svc *corev1.Service, cached []*discoveryv1.EndpointSlice, wanted map[discoveryv1.AddressType]map[groupKey]*group) {
	tell := func(kind, what string, family discoveryv1.AddressType, message string) {
		c.rec.Event(svc, kind, "TopologyAwareHints"+what, "%s, addressType: %s", message, family)
	}
	was, is := c.shared.has(controller.KeyOf(svc)), false
	defer func() { c.shared.set(controller.KeyOf(svc), is) }()
	before := map[types.UID]string{}
	for _, s := range cached {
		for _, ep := range s.Endpoints {
			if ep.TargetRef != nil && ep.Hints != nil && len(ep.Hints.ForZones) == 1 {
				before[ep.TargetRef.UID] = ep.Hints.ForZones[0].Name
			}
		}
	}
	parts := map[string]float64(nil)
	if balanced(svc) {
		parts = shares(c.nodes.Store().List(""))
	}
	for _, family := range slices.Sorted(maps.Keys(wanted)) {
		if !balanced(svc) {
			if was {
				tell(corev1.EventTypeWarning, "Disabled", family, "Topology Aware Hints has been disabled")
			}
			continue
		}
		var endpoints []*discoveryv1.Endpoint
		for _, k := range slices.SortedFunc(maps.Keys(wanted[family]), func(a, b groupKey) int { return cmp.Compare(a.ports, b.ports) }) {
			for i := range wanted[family][k].endpoints {
				endpoints = append(endpoints, &wanted[family][k].endpoints[i])
			}
		}
		if why := share(endpoints, parts, before); why != "" {
			tell(corev1.EventTypeWarning, "Disabled", family, why)
			continue
		}
		if !was && !is {
			tell(corev1.EventTypeNormal, "Enabled", family, "Topology Aware Hints has been enabled")
		}
		is = true
	}
}
