package core

import (
	"fmt"
	"net"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource/check"
)

const onlyLoadBalancer = "may only be used when `type` is 'LoadBalancer'"

func validateService(s, old *corev1.Service) field.ErrorList {
	var f check.Errors
	p := check.At("spec")
	spec := &s.Spec
	if len(spec.Ports) == 0 && !headless(s) && spec.Type != corev1.ServiceTypeExternalName {
		f.Required(p.Child("ports"), "")
	}
	switch spec.Type {
	case corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort:
		if headless(s) {
			f.Invalid(p.Child("clusterIPs").Index(0), spec.ClusterIPs[0], fmt.Sprintf("may not be set to 'None' for %s services", spec.Type))
		}
	case corev1.ServiceTypeExternalName:
		externalName(&f, p, spec)
	}
	servicePorts(&f, p.Child("ports"), s)
	f.Labels(p.Child("selector"), spec.Selector)
	check.OneOf(&f, p.Child("sessionAffinity"), spec.SessionAffinity, corev1.ServiceAffinityClientIP, corev1.ServiceAffinityNone)
	affinityConfig(&f, p.Child("sessionAffinityConfig"), spec)
	var was corev1.ServiceSpec
	if old != nil {
		was = old.Spec
	}
	f.Add(ValidateServiceAddresses(s, old)...)
	for i, ip := range spec.ExternalIPs {
		n := f.Len()
		if f.IP(p.Child("externalIPs").Index(i), ip, was.ExternalIPs...); f.Len() == n {
			endpointIP(&f, p.Child("externalIPs").Index(i), ip)
		}
	}
	check.OneOf(&f, p.Child("type"), spec.Type, serviceTypes...)
	portUniqueness(&f, p.Child("ports"), spec)
	if len(spec.LoadBalancerSourceRanges) > 0 {
		at := p.Child("LoadBalancerSourceRanges")
		if spec.Type != corev1.ServiceTypeLoadBalancer {
			f.Forbidden(at, onlyLoadBalancer)
		}
		for i, r := range spec.LoadBalancerSourceRanges {
			f.CIDR(at.Index(i), strings.TrimSpace(r), was.LoadBalancerSourceRanges...)
		}
	}
	if spec.AllocateLoadBalancerNodePorts != nil && spec.Type != corev1.ServiceTypeLoadBalancer {
		f.Forbidden(p.Child("allocateLoadBalancerNodePorts"), onlyLoadBalancer)
	}
	if c := spec.LoadBalancerClass; c != nil {
		if spec.Type == corev1.ServiceTypeLoadBalancer {
			f.Qualified(p.Child("loadBalancerClass"), *c)
		} else {
			f.Forbidden(p.Child("loadBalancerClass"), onlyLoadBalancer)
		}
	}
	traffic(&f, p, s)
	return f.List()
}

func externalName(f *check.Errors, p *check.Path, spec *corev1.ServiceSpec) {
	const no = "may not be set for ExternalName services"
	if len(spec.ClusterIPs) > 0 {
		f.Forbidden(p.Child("clusterIPs"), no)
	}
	if len(spec.IPFamilies) > 0 {
		f.Forbidden(p.Child("ipFamilies"), no)
	}
	if spec.IPFamilyPolicy != nil {
		f.Forbidden(p.Child("ipFamilyPolicy"), no)
	}
	if name := strings.TrimSuffix(spec.ExternalName, "."); name != "" {
		f.Subdomain(p.Child("externalName"), name)
	} else {
		f.Required(p.Child("externalName"), "")
	}
}

func servicePorts(f *check.Errors, p *check.Path, s *corev1.Service) {
	names := map[string]bool{}
	for i := range s.Spec.Ports {
		port, at := &s.Spec.Ports[i], p.Index(i)
		if port.Name != "" {
			f.Label(at.Child("name"), port.Name)
			if names[port.Name] {
				f.Duplicate(at.Child("name"), port.Name)
			}
			names[port.Name] = true
		} else if len(s.Spec.Ports) > 1 {
			f.Required(at.Child("name"), "")
		}
		f.Port(at.Child("port"), port.Port)
		check.OneOf(f, at.Child("protocol"), port.Protocol, corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP)
		f.PortOrName(at.Child("targetPort"), port.TargetPort)
		if port.AppProtocol != nil {
			f.Qualified(at.Child("appProtocol"), *port.AppProtocol)
		}
	}
}

// portUniqueness requires each port, and each node port, to be unique per protocol.
func portUniqueness(f *check.Errors, p *check.Path, spec *corev1.ServiceSpec) {
	if spec.Type == corev1.ServiceTypeClusterIP {
		for i := range spec.Ports {
			if spec.Ports[i].NodePort != 0 {
				f.Forbidden(p.Index(i).Child("nodePort"), "may not be used when `type` is 'ClusterIP'")
			}
		}
	}
	nodePorts, ports := map[corev1.ServicePort]bool{}, map[corev1.ServicePort]bool{}
	for i, port := range spec.Ports {
		if port.NodePort == 0 {
			continue
		}
		key := corev1.ServicePort{Protocol: port.Protocol, NodePort: port.NodePort}
		if nodePorts[key] {
			f.Duplicate(p.Index(i).Child("nodePort"), port.NodePort)
		}
		nodePorts[key] = true
	}
	for i, port := range spec.Ports {
		key := corev1.ServicePort{Protocol: port.Protocol, Port: port.Port}
		if ports[key] {
			f.Duplicate(p.Index(i), key)
		}
		ports[key] = true
	}
}

func affinityConfig(f *check.Errors, p *check.Path, spec *corev1.ServiceSpec) {
	c := spec.SessionAffinityConfig
	switch spec.SessionAffinity {
	case corev1.ServiceAffinityNone:
		if c != nil {
			f.Forbidden(p, "must not be set when session affinity is None")
		}
	case corev1.ServiceAffinityClientIP:
		const why = "when session affinity type is ClientIP"
		at := p.Child("clientIP", "timeoutSeconds")
		const maxTimeout = 86400
		switch {
		case c == nil:
			f.Required(p, why)
		case c.ClientIP == nil:
			f.Required(p.Child("clientIP"), why)
		case c.ClientIP.TimeoutSeconds == nil:
			f.Required(at, why)
		case *c.ClientIP.TimeoutSeconds <= 0 || *c.ClientIP.TimeoutSeconds > maxTimeout:
			f.Invalid(at, c.ClientIP.TimeoutSeconds, fmt.Sprintf("must be greater than 0 and less than %d", maxTimeout))
		}
	}
}

// ValidateServiceAddresses returns the errors in a service's addresses, IP families and family policy. Allocation
// depends on them, so they are validated before it, and again with the rest. old is nil for a create.
func ValidateServiceAddresses(s, old *corev1.Service) field.ErrorList {
	var f check.Errors
	if s.Spec.Type == corev1.ServiceTypeExternalName {
		return nil
	}
	var was []string
	if old != nil {
		was = old.Spec.ClusterIPs
	}
	clusterIPs(&f, check.At("spec"), s, was)
	return f.List()
}

func clusterIPs(f *check.Errors, p *check.Path, s *corev1.Service, was []string) {
	spec, at := &s.Spec, p.Child("clusterIPs")
	switch {
	case spec.ClusterIP != "" && len(spec.ClusterIPs) == 0:
		f.Required(at, "")
	case spec.ClusterIP != "" && spec.ClusterIPs[0] != spec.ClusterIP:
		f.Invalid(at, spec.ClusterIPs, "first value must match `clusterIP`")
	case spec.ClusterIP == "" && len(spec.ClusterIPs) > 0:
		f.Invalid(at, spec.ClusterIPs, "must be empty when `clusterIP` is not specified")
	}
	seen := map[corev1.IPFamily]bool{}
	for i, family := range spec.IPFamilies {
		check.Known(f, p.Child("ipFamilies").Index(i), family, corev1.IPv4Protocol, corev1.IPv6Protocol)
		if seen[family] {
			f.Duplicate(p.Child("ipFamilies").Index(i), family)
		}
		seen[family] = true
	}
	if spec.IPFamilyPolicy != nil {
		check.Known(f, p.Child("ipFamilyPolicy"), *spec.IPFamilyPolicy,
			corev1.IPFamilyPolicyPreferDualStack, corev1.IPFamilyPolicyRequireDualStack, corev1.IPFamilyPolicySingleStack)
	}
	n := f.Len()
	for i, ip := range spec.ClusterIPs {
		if i == 0 && ip == corev1.ClusterIPNone {
			if len(spec.ClusterIPs) > 1 {
				f.Invalid(at, spec.ClusterIPs, "'None' must be the first and only value")
			}
			continue
		}
		f.IP(at.Index(i), ip, was...)
	}
	wellFormed := f.Len() == n
	if len(spec.ClusterIPs) > 2 {
		f.Invalid(at, spec.ClusterIPs, "may only hold up to 2 values")
	}
	if !wellFormed || headless(s) {
		return
	}
	if ips := spec.ClusterIPs; len(ips) > 1 && isIPv6(ips[0]) == isIPv6(ips[1]) {
		f.Invalid(at, ips, "may specify no more than one IP for each IP family")
	}
	for i, ip := range spec.ClusterIPs {
		if i >= len(spec.IPFamilies) {
			break
		}
		family := spec.IPFamilies[i]
		if family == corev1.IPv4Protocol && isIPv6(ip) || family == corev1.IPv6Protocol && !isIPv6(ip) {
			f.Invalid(at.Index(i), ip, fmt.Sprintf("expected an %s value as indicated by `ipFamilies[%d]`", family, i))
		}
	}
}

func isIPv6(ip string) bool { return strings.Contains(ip, ":") }

func traffic(f *check.Errors, p *check.Path, s *corev1.Service) {
	spec := &s.Spec
	at := p.Child("externalTrafficPolicy")
	if isExternal(s) {
		check.OneOf(f, at, spec.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster, corev1.ServiceExternalTrafficPolicyLocal)
	} else if spec.ExternalTrafficPolicy != "" {
		f.Invalid(at, spec.ExternalTrafficPolicy, "may only be set for externally-accessible services")
	}
	at = p.Child("healthCheckNodePort")
	if hasHealthPort(s) {
		if spec.HealthCheckNodePort != 0 { // zero is replaced by allocation
			f.Port(at, spec.HealthCheckNodePort)
		}
	} else if spec.HealthCheckNodePort != 0 {
		f.Invalid(at, spec.HealthCheckNodePort, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'")
	}
	at = p.Child("internalTrafficPolicy")
	if policy := spec.InternalTrafficPolicy; policy != nil {
		check.Known(f, at, *policy, corev1.ServiceInternalTrafficPolicyCluster, corev1.ServiceInternalTrafficPolicyLocal)
	} else if spec.Type != corev1.ServiceTypeExternalName && isServiceType(spec.Type) {
		f.Required(at, "")
	}
	if d := spec.TrafficDistribution; d != nil {
		check.Known(f, p.Child("trafficDistribution"), *d,
			corev1.ServiceTrafficDistributionPreferClose, corev1.ServiceTrafficDistributionPreferSameZone, corev1.ServiceTrafficDistributionPreferSameNode)
	}
}

// endpointIP requires an address that can receive traffic.
func endpointIP(f *check.Errors, p *check.Path, s string) {
	switch ip := net.ParseIP(s); {
	case ip == nil:
		f.Invalid(p, s, "must be a valid IP address")
	case ip.IsUnspecified():
		f.Invalid(p, s, fmt.Sprintf("may not be unspecified (%v)", s))
	case ip.IsLoopback():
		f.Invalid(p, s, "may not be in the loopback range (127.0.0.0/8, ::1/128)")
	case ip.IsLinkLocalUnicast():
		f.Invalid(p, s, "may not be in the link-local range (169.254.0.0/16, fe80::/10)")
	case ip.IsLinkLocalMulticast():
		f.Invalid(p, s, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")
	}
}

func validateServiceUpdate(s, old *corev1.Service) field.ErrorList {
	var f check.Errors
	p := check.At("spec")
	now, was := &s.Spec, &old.Spec
	if now.Type != corev1.ServiceTypeExternalName && was.Type != corev1.ServiceTypeExternalName {
		if !headless(s) || !headless(old) {
			keptInOrder(&f, p.Child("clusterIPs"), "clusterIP", now.ClusterIPs, was.ClusterIPs, now)
		}
		if !headless(s) && !headless(old) {
			keptInOrder(&f, p.Child("ipFamilies"), "ipFamily", now.IPFamilies, was.IPFamilies, now)
		}
	}
	if now.Type == corev1.ServiceTypeLoadBalancer && was.Type == corev1.ServiceTypeLoadBalancer && !reflect.DeepEqual(now.LoadBalancerClass, was.LoadBalancerClass) {
		f.Invalid(p.Child("loadBalancerClass"), now.LoadBalancerClass, "may not change once set")
	}
	if hasHealthPort(s) && hasHealthPort(old) && now.HealthCheckNodePort != was.HealthCheckNodePort {
		f.Forbidden(p.Child("healthCheckNodePort"), "field is immutable")
	}
	f.Add(validateService(s, old)...)
	return f.List()
}

// keptInOrder allows a second value to be added or removed; the first one is immutable.
func keptInOrder[T comparable](f *check.Errors, p *check.Path, what string, now, was []T, spec *corev1.ServiceSpec) {
	const why = "may not change once set"
	if len(now) == len(was) {
		for i := range was {
			if was[i] != now[i] {
				f.Invalid(p.Index(i), now, why)
			}
		}
		return
	}
	if len(now) == 0 {
		f.Invalid(p.Index(0), now, fmt.Sprintf("primary %s can not be unset", what))
		return
	}
	if len(was) > 0 && now[0] != was[0] {
		f.Invalid(p.Index(0), now, why)
	}
	if len(now) == 1 && len(was) > 1 && (spec.IPFamilyPolicy == nil || *spec.IPFamilyPolicy != corev1.IPFamilyPolicySingleStack) {
		f.Invalid(check.At("spec", "ipFamilyPolicy"), spec.IPFamilyPolicy, fmt.Sprintf("must be set to 'SingleStack' when releasing the secondary %s", what))
	}
}

func validateServiceStatus(s, old *corev1.Service) field.ErrorList {
	var f check.Errors
	p := check.At("status", "loadBalancer", "ingress")
	list := s.Status.LoadBalancer.Ingress
	if s.Spec.Type != corev1.ServiceTypeLoadBalancer && len(list) > 0 {
		f.Forbidden(p, "may only be used when `spec.type` is 'LoadBalancer'")
		return f.List()
	}
	var was []string
	for _, in := range old.Status.LoadBalancer.Ingress {
		was = append(was, in.IP)
	}
	for i, in := range list {
		at := p.Index(i)
		if in.IP != "" {
			f.IP(at.Child("ip"), in.IP, was...)
		}
		switch mode := at.Child("ipMode"); {
		case in.IPMode == nil && in.IP != "":
			f.Required(mode, "must be specified when `ip` is set")
		case in.IPMode != nil && in.IP == "":
			f.Forbidden(mode, "may not be specified when `ip` is not set")
		case in.IPMode != nil:
			check.Known(&f, mode, *in.IPMode, corev1.LoadBalancerIPModeProxy, corev1.LoadBalancerIPModeVIP)
		}
		if in.Hostname != "" {
			f.Each(at.Child("hostname"), in.Hostname, validation.IsDNS1123Subdomain(in.Hostname))
			if net.ParseIP(in.Hostname) != nil {
				f.Invalid(at.Child("hostname"), in.Hostname, "must be a DNS name, not an IP address")
			}
		}
	}
	return f.List()
}
