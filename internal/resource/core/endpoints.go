//lint:file-ignore SA1019 Endpoints are deprecated, and served

package core

import (
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/resource/check"
)

// endpoints returns the row of Endpoints. Every response has a deprecation warning.
func endpoints() *resource.Resource {
	r := resource.NamespaceScoped[corev1.Endpoints, corev1.EndpointsList](corev1.SchemeGroupVersion, "endpoints").
		WithShortNames("ep").WithStoragePrefix("/registry/services/endpoints").
		WithTable(endpointsTable).WithStrategy(endpointsStrategy)
	r.Versions[0].Warning = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
	return r
}

var endpointsStrategy = resource.Rules[*corev1.Endpoints]{
	Default: func(e *corev1.Endpoints) {
		for i := range e.Subsets {
			for k := range e.Subsets[i].Ports {
				if p := &e.Subsets[i].Ports[k]; p.Protocol == "" {
					p.Protocol = corev1.ProtocolTCP
				}
			}
		}
	},
	Validate: validateEndpoints,
	ValidateUpdate: func(e, old *corev1.Endpoints) field.ErrorList {
		if apiequality.Semantic.DeepEqual(e.Subsets, old.Subsets) {
			return nil
		}
		return validateEndpoints(e)
	},
	Warnings:            endpointsWarnings,
	AllowCreateOnUpdate: true,
}.Strategy()

// endpointsWarnings reports addresses in a non-canonical form. The endpoints controller always writes canonical
// ones.
func endpointsWarnings(e *corev1.Endpoints) (list []string) {
	if e.Labels["endpoints.kubernetes.io/managed-by"] == "endpoint-controller" {
		return nil
	}
	for i := range e.Subsets {
		s, p := &e.Subsets[i], check.At("subsets").Index(i)
		for k := range s.Addresses {
			list = append(list, validation.GetWarningsForIP(p.Child("addresses").Index(k).Child("ip").Field(), s.Addresses[k].IP)...)
		}
		for k := range s.NotReadyAddresses {
			list = append(list, validation.GetWarningsForIP(p.Child("notReadyAddresses").Index(k).Child("ip").Field(), s.NotReadyAddresses[k].IP)...)
		}
	}
	return list
}

func validateEndpoints(e *corev1.Endpoints) field.ErrorList {
	var f check.Errors
	for i := range e.Subsets {
		s, p := &e.Subsets[i], check.At("subsets").Index(i)
		if len(s.Addresses) == 0 && len(s.NotReadyAddresses) == 0 {
			f.Required(p, "must specify `addresses` or `notReadyAddresses`")
		}
		for k := range s.Addresses {
			endpointAddress(&f, p.Child("addresses").Index(k), &s.Addresses[k])
		}
		for k := range s.NotReadyAddresses {
			endpointAddress(&f, p.Child("notReadyAddresses").Index(k), &s.NotReadyAddresses[k])
		}
		for k := range s.Ports {
			port, at := &s.Ports[k], p.Child("ports").Index(k)
			if port.Name != "" {
				f.Label(at.Child("name"), port.Name)
			} else if len(s.Ports) > 1 {
				f.Required(at.Child("name"), "")
			}
			f.Port(at.Child("port"), port.Port)
			check.OneOf(&f, at.Child("protocol"), port.Protocol, corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP)
			if port.AppProtocol != nil {
				f.Qualified(at.Child("appProtocol"), *port.AppProtocol)
			}
		}
	}
	return f.List()
}

func endpointAddress(f *check.Errors, p *check.Path, a *corev1.EndpointAddress) {
	f.IP(p.Child("ip"), a.IP)
	if a.Hostname != "" {
		f.Label(p.Child("hostname"), a.Hostname)
	}
	if a.NodeName != nil {
		f.Subdomain(p.Child("nodeName"), *a.NodeName)
	}
	endpointIP(f, p.Child("ip"), a.IP)
}
