// Package networking describes ingresses, network policies and service addresses.
package networking

import (
	networkingv1 "k8s.io/api/networking/v1"

	"fairlead.dev/internal/resource"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	gv := networkingv1.SchemeGroupVersion
	return []*resource.Resource{
		resource.ClusterScoped[networkingv1.IngressClass, networkingv1.IngressClassList](gv, "ingressclasses").
			Shown(ingressClassTable).Ruled(ingressClassStrategy()),
		resource.NamespaceScoped[networkingv1.Ingress, networkingv1.IngressList](gv, "ingresses").
			Short("ing").At("/registry/ingress").WithStatus().
			Shown(ingressTable).Ruled(ingressStrategy()),
		resource.ClusterScoped[networkingv1.IPAddress, networkingv1.IPAddressList](gv, "ipaddresses").
			Short("ip").Named(ipAddressName).
			Shown(ipAddressTable).Ruled(ipAddressStrategy),
		resource.NamespaceScoped[networkingv1.NetworkPolicy, networkingv1.NetworkPolicyList](gv, "networkpolicies").
			Short("netpol").
			Shown(policyTable).Ruled(policyStrategy()),
		resource.ClusterScoped[networkingv1.ServiceCIDR, networkingv1.ServiceCIDRList](gv, "servicecidrs").
			WithStatus().
			Shown(serviceCIDRTable).Ruled(serviceCIDRStrategy()),
	}
}
