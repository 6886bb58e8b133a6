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

// overload is how much an endpoint's load may exceed its share.
const overload = 0.2

// balanced reports whether a Service asks for topology-aware distribution.
func balanced(svc *corev1.Service) bool {
	mode, ok := svc.Annotations[corev1.DeprecatedAnnotationTopologyAwareHints] //nolint:staticcheck // it goes before the other
	if !ok {
		mode = svc.Annotations[corev1.AnnotationTopologyMode]
	}
	return mode == "Auto" || mode == "auto"
}

// shares returns each zone's share of the CPU of the ready nodes; nil if it is unknown for some node, or if there
// are fewer than two zones.
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

// bears reports whether a node counts for the shares.
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

// share adds hints to the ready endpoints of one family, so that each zone has as many as its share requires: its
// own ones, supplemented by others. before has the present zones: among equivalent results it takes the one with
// fewer changes. If there is no valid result, no endpoint gets hints, and why is the reason.
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

// moves returns how many endpoints each zone gives and takes, until no zone has a surplus or deficit of half an
// endpoint or more.
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

// balance distributes a Service's endpoints if it asks for that, and records an event when distribution starts,
// ends, or fails.
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
