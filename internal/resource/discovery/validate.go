package discovery

import (
	"fmt"
	"net"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource/check"
)

const (
	maxEndpoints = 1000
	maxAddresses = 100
	maxPorts     = 20000
	maxTopology  = 16
	maxHints     = 8
)

func validateSlice(s *discoveryv1.EndpointSlice) field.ErrorList {
	var f check.Errors
	slice(&f, s, true)
	return f.List()
}

func validateSliceUpdate(s, old *discoveryv1.EndpointSlice) field.ErrorList {
	var f check.Errors
	slice(&f, s, !apiequality.Semantic.DeepEqual(s.Endpoints, old.Endpoints))
	f.Immutable(check.At("addressType"), s.AddressType, old.AddressType)
	return f.List()
}

func slice(f *check.Errors, s *discoveryv1.EndpointSlice, endpoints bool) {
	check.OneOf(f, check.At("addressType"), s.AddressType, discoveryv1.AddressTypeFQDN, discoveryv1.AddressTypeIPv4, discoveryv1.AddressTypeIPv6)
	ports(f, check.At("ports"), s.Ports)
	if !endpoints {
		return
	}
	p := check.At("endpoints")
	if len(s.Endpoints) > maxEndpoints {
		f.Add(field.TooMany(p.Field(), len(s.Endpoints), maxEndpoints))
	}
	for i := range s.Endpoints {
		endpoint(f, p.Index(i), &s.Endpoints[i], s.AddressType)
	}
}

func endpoint(f *check.Errors, p *check.Path, e *discoveryv1.Endpoint, t discoveryv1.AddressType) {
	at := p.Child("addresses")
	if len(e.Addresses) == 0 {
		f.Required(at, "")
	} else if len(e.Addresses) > maxAddresses {
		f.Add(field.TooMany(at.Field(), len(e.Addresses), maxAddresses))
	}
	for i, a := range e.Addresses {
		address(f, at, at.Index(i), a, t)
	}
	if e.NodeName != nil {
		f.Subdomain(p.Child("nodeName"), *e.NodeName)
	}
	if len(e.DeprecatedTopology) > maxTopology {
		f.Add(field.TooMany(p.Child("deprecatedTopology").Field(), len(e.DeprecatedTopology), maxTopology))
	}
	f.Labels(p.Child("deprecatedTopology"), e.DeprecatedTopology)
	if e.Hostname != nil {
		f.Label(p.Child("hostname"), *e.Hostname)
	}
	if h := e.Hints; h != nil {
		zones, nodes := make([]string, len(h.ForZones)), make([]string, len(h.ForNodes))
		for i := range zones {
			zones[i] = h.ForZones[i].Name
		}
		for i := range nodes {
			nodes[i] = h.ForNodes[i].Name
		}
		hints(f, p.Child("hints", "forZones"), zones, validation.IsValidLabelValue)
		hints(f, p.Child("hints", "forNodes"), nodes, validation.IsDNS1123Subdomain)
	}
}

func hints(f *check.Errors, p *check.Path, names []string, rule func(string) []string) {
	if len(names) > maxHints {
		f.Add(field.TooMany(p.Field(), len(names), maxHints))
	}
	for i, name := range names {
		at := p.Index(i).Child("name")
		if slices.Contains(names[:i], name) {
			f.Duplicate(at, name)
		}
		f.Each(at, name, rule(name))
	}
}

func address(f *check.Errors, list, p *check.Path, a string, t discoveryv1.AddressType) {
	if t == discoveryv1.AddressTypeFQDN {
		f.Add(validation.IsFullyQualifiedDomainName(p.Field(), a)...)
		return
	}
	if t != discoveryv1.AddressTypeIPv4 && t != discoveryv1.AddressTypeIPv6 {
		return
	}
	n := f.Len()
	if f.IP(p, a); f.Len() > n {
		return
	}
	if strings.Contains(a, ":") != (t == discoveryv1.AddressTypeIPv6) {
		f.Invalid(list, a, fmt.Sprintf("must be an %s address", t))
	}
	switch ip := net.ParseIP(a); {
	case ip.IsUnspecified():
		f.Invalid(p, a, fmt.Sprintf("may not be unspecified (%v)", a))
	case ip.IsLoopback():
		f.Invalid(p, a, "may not be in the loopback range (127.0.0.0/8, ::1/128)")
	case ip.IsLinkLocalUnicast():
		f.Invalid(p, a, "may not be in the link-local range (169.254.0.0/16, fe80::/10)")
	case ip.IsLinkLocalMulticast():
		f.Invalid(p, a, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")
	}
}

func ports(f *check.Errors, p *check.Path, list []discoveryv1.EndpointPort) {
	if len(list) > maxPorts {
		f.Add(field.TooMany(p.Field(), len(list), maxPorts))
	}
	names := map[string]bool{}
	for i := range list {
		port, at := &list[i], p.Index(i)
		name := ""
		if port.Name != nil {
			name = *port.Name
		}
		if name != "" {
			f.Label(at.Child("name"), name)
		}
		if names[name] {
			f.Duplicate(at.Child("name"), port.Name)
		}
		names[name] = true
		if port.Protocol == nil {
			f.Required(at.Child("protocol"), "")
		} else {
			check.Known(f, at.Child("protocol"), *port.Protocol, corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP)
		}
		if port.AppProtocol != nil {
			f.Qualified(at.Child("appProtocol"), *port.AppProtocol)
		}
	}
}
