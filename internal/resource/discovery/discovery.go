// Package discovery describes endpoint slices.
package discovery

import (
	"cmp"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"fairlead.dev/internal/resource"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	return []*resource.Resource{
		resource.NamespaceScoped[discoveryv1.EndpointSlice, discoveryv1.EndpointSliceList](discoveryv1.SchemeGroupVersion, "endpointslices").
			WithTable(sliceTable).WithStrategy(sliceStrategy),
	}
}

var sliceTable = resource.TableOf(func(s *discoveryv1.EndpointSlice) []any {
	var ports, addresses []string
	for _, p := range s.Ports {
		switch {
		case p.Port != nil:
			ports = append(ports, strconv.Itoa(int(*p.Port)))
		case p.Name != nil:
			ports = append(ports, *p.Name)
		default:
			ports = append(ports, "*")
		}
	}
	for _, e := range s.Endpoints {
		addresses = append(addresses, e.Addresses...)
	}
	portCell, addressCell := resource.JoinFirstThree(ports, resource.Unset), resource.JoinFirstThree(addresses, resource.Unset)
	return []any{s.Name, string(s.AddressType), cmp.Or(portCell, resource.Unset), cmp.Or(addressCell, resource.Unset), resource.AgeOf(s)}
},
	resource.NameColumn,
	resource.Text("AddressType", "What kind of addresses the endpoints have."),
	resource.Text("Ports", "Ports of each endpoint."),
	resource.Text("Endpoints", "Addresses of the endpoints."),
	resource.AgeColumn,
)

var sliceStrategy = resource.Rules[*discoveryv1.EndpointSlice]{
	Default: func(s *discoveryv1.EndpointSlice) {
		for i := range s.Ports {
			resource.SetDefault(&s.Ports[i].Name, "")
			resource.SetDefault(&s.Ports[i].Protocol, corev1.ProtocolTCP)
		}
	},
	PrepareForCreate: func(s *discoveryv1.EndpointSlice) {
		s.Generation = 1
		dropTopology(s, nil)
		resource.NilIfEmpty(&s.Endpoints)
		resource.NilIfEmpty(&s.Ports)
	},
	PrepareForUpdate: func(s, old *discoveryv1.EndpointSlice) {
		countSlice(s, old)
		if !apiequality.Semantic.DeepEqual(s.Endpoints, old.Endpoints) {
			dropTopology(s, old)
		}
		resource.NilIfEmpty(&s.Endpoints)
		resource.NilIfEmpty(&s.Ports)
	},
	Validate:       validateSlice,
	ValidateUpdate: validateSliceUpdate,
	Warnings: func(s *discoveryv1.EndpointSlice) []string {
		if s.AddressType == discoveryv1.AddressTypeFQDN {
			return []string{"spec.addressType: FQDN endpoints are deprecated"}
		}
		return nil
	},
	UpdateWarnings: func(_, _ *discoveryv1.EndpointSlice) []string { return nil },
}.Strategy()

// countSlice increments the generation for every change except to annotations with trigger times: nearly all of a
// slice is desired state.
func countSlice(s, old *discoveryv1.EndpointSlice) {
	now, was := *s, *old
	now.ObjectMeta.Annotations, was.ObjectMeta.Annotations = nil, nil
	now.ObjectMeta.ManagedFields, was.ObjectMeta.ManagedFields = nil, nil
	now.ObjectMeta.ResourceVersion, was.ObjectMeta.ResourceVersion = "", ""
	now.TypeMeta, was.TypeMeta = discoveryv1.EndpointSlice{}.TypeMeta, discoveryv1.EndpointSlice{}.TypeMeta
	if !apiequality.Semantic.DeepEqual(now, was) {
		s.Generation = old.Generation + 1
	}
}

// dropTopology removes deprecated topology labels, which are read-only in v1. A node name among them is moved to
// its field.
func dropTopology(s, old *discoveryv1.EndpointSlice) {
	known := map[string]bool{}
	if old != nil {
		for _, e := range old.Endpoints {
			known[e.DeprecatedTopology[corev1.LabelHostname]] = true
		}
	}
	for i := range s.Endpoints {
		e := &s.Endpoints[i]
		if name := e.DeprecatedTopology[corev1.LabelHostname]; e.NodeName == nil && name != "" && known[name] {
			e.NodeName = &name
		}
		e.DeprecatedTopology = nil
	}
}
