package endpointslice

import (
	"fmt"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"fairlead.dev/internal/controllers/podcontrol"
	"fairlead.dev/internal/controllers/podcontrol/backends"
)

// groupKey is the common part of all endpoints of one slice: the address family, and the ports, encoded.
type groupKey struct {
	family discoveryv1.AddressType
	ports  string
}

// group is the desired endpoints of one key, in the order of their pods' names.
type group struct {
	ports     []discoveryv1.EndpointPort
	endpoints []discoveryv1.Endpoint
}

// wanted returns the endpoints of a Service's pods, for each of its address families. Every family is present, if
// only with no group. A pod whose node is unknown is left out, unless the Service publishes all addresses; skipped
// has an error for it.
func (c *controllerState) wanted(svc *corev1.Service, pods []*corev1.Pod) (out map[discoveryv1.AddressType]map[groupKey]*group, skipped []error) {
	families := familiesOf(svc)
	out = make(map[discoveryv1.AddressType]map[groupKey]*group, len(families))
	for _, f := range families {
		out[f] = make(map[groupKey]*group)
	}
	for _, p := range pods {
		node, known := c.nodes.Store().Get("", p.Spec.NodeName)
		if !known && !svc.Spec.PublishNotReadyAddresses {
			skipped = append(skipped, fmt.Errorf("skipping Pod %s for Service %s/%s: Node %s Not Found", p.Name, svc.Namespace, svc.Name, p.Spec.NodeName))
			continue
		}
		ports := portsOf(svc, p)
		spelt := spell(ports)
		for _, f := range families {
			addresses := addressesOf(p, f)
			if len(addresses) == 0 {
				continue
			}
			k := groupKey{f, spelt}
			g := out[f][k]
			if g == nil {
				g = &group{ports: ports}
				out[f][k] = g
			}
			g.endpoints = append(g.endpoints, describe(svc, p, node, addresses))
		}
	}
	return out, skipped
}

// describe returns the endpoint of a pod on a node, which is nil if it is unknown.
func describe(svc *corev1.Service, p *corev1.Pod, node *corev1.Node, addresses []string) discoveryv1.Endpoint {
	serving := podcontrol.IsReady(p)
	terminating := p.DeletionTimestamp != nil
	ready := svc.Spec.PublishNotReadyAddresses || (serving && !terminating)
	ep := discoveryv1.Endpoint{
		Addresses:  addresses,
		Conditions: discoveryv1.EndpointConditions{Ready: &ready, Serving: &serving, Terminating: &terminating},
		TargetRef:  &corev1.ObjectReference{Kind: "Pod", Namespace: p.Namespace, Name: p.Name, UID: p.UID},
	}
	if p.Spec.NodeName != "" {
		ep.NodeName = &p.Spec.NodeName
	}
	if node != nil && node.Labels[corev1.LabelTopologyZone] != "" {
		zone := node.Labels[corev1.LabelTopologyZone]
		ep.Zone = &zone
	}
	if backends.NamedHost(p, svc) {
		ep.Hostname = &p.Spec.Hostname
	}
	if ready {
		ep.Hints = hints(svc, ep)
	}
	return ep
}

// hints adds the hint to route to the endpoint's own zone or node, if the Service asks for that.
func hints(svc *corev1.Service, ep discoveryv1.Endpoint) *discoveryv1.EndpointHints {
	if svc.Spec.TrafficDistribution == nil || balanced(svc) {
		return nil
	}
	h := &discoveryv1.EndpointHints{}
	switch *svc.Spec.TrafficDistribution {
	case corev1.ServiceTrafficDistributionPreferClose, corev1.ServiceTrafficDistributionPreferSameZone:
	case corev1.ServiceTrafficDistributionPreferSameNode:
		if ep.NodeName != nil {
			h.ForNodes = []discoveryv1.ForNode{{Name: *ep.NodeName}}
		}
	default:
		return nil
	}
	if ep.Zone != nil {
		h.ForZones = []discoveryv1.ForZone{{Name: *ep.Zone}}
	}
	if h.ForNodes == nil && h.ForZones == nil {
		return nil
	}
	return h
}

// familiesOf lists the address families of a Service.
func familiesOf(svc *corev1.Service) []discoveryv1.AddressType {
	var out []discoveryv1.AddressType
	for _, f := range svc.Spec.IPFamilies {
		switch f {
		case corev1.IPv4Protocol:
			out = append(out, discoveryv1.AddressTypeIPv4)
		case corev1.IPv6Protocol:
			out = append(out, discoveryv1.AddressTypeIPv6)
		}
	}
	if len(out) > 0 {
		return out
	}
	if ip, err := netip.ParseAddr(svc.Spec.ClusterIP); err == nil {
		return []discoveryv1.AddressType{familyOf(ip)}
	}
	return []discoveryv1.AddressType{discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6}
}

func familyOf(ip netip.Addr) discoveryv1.AddressType {
	if ip.Unmap().Is4() {
		return discoveryv1.AddressTypeIPv4
	}
	return discoveryv1.AddressTypeIPv6
}

func addressesOf(p *corev1.Pod, f discoveryv1.AddressType) []string {
	var out []string
	for _, s := range p.Status.PodIPs {
		if ip, err := netip.ParseAddr(s.IP); err == nil && familyOf(ip) == f {
			out = append(out, ip.Unmap().String())
		}
	}
	return out
}

// portsOf resolves the Service's ports on a pod; those that the pod lacks are
// left out.
func portsOf(svc *corev1.Service, p *corev1.Pod) []discoveryv1.EndpointPort {
	ports := make([]discoveryv1.EndpointPort, 0, len(svc.Spec.Ports))
	for i := range svc.Spec.Ports {
		sp := &svc.Spec.Ports[i]
		if n, ok := backends.Port(p, sp); ok {
			ports = append(ports, discoveryv1.EndpointPort{Name: &sp.Name, Port: &n, Protocol: &sp.Protocol, AppProtocol: sp.AppProtocol})
		}
	}
	return ports
}
