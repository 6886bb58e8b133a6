// Package networking describes ingresses, network policies and service addresses.
package networking

import (
	networkingv1 "k8s.io/api/networking/v1"
	networkingv1beta1 "k8s.io/api/networking/v1beta1"

	"fairlead.dev/internal/resource"
)

// Resources is the group's part of the table.
func Resources() []*resource.Resource {
	gv := networkingv1.SchemeGroupVersion
	return []*resource.Resource{
		resource.ClusterScoped[networkingv1.IngressClass, networkingv1.IngressClassList](gv, "ingressclasses").
			WithTable(ingressClassTable).WithStrategy(ingressClassStrategy()),
		resource.NamespaceScoped[networkingv1.Ingress, networkingv1.IngressList](gv, "ingresses").
			WithShortNames("ing").WithStoragePrefix("/registry/ingress").WithStatus().
			WithTable(ingressTable).WithStrategy(ingressStrategy()),
		resource.ClusterScoped[networkingv1.IPAddress, networkingv1.IPAddressList](gv, "ipaddresses").
			WithShortNames("ip").WithNameRule(ipAddressName).
			WithTable(ipAddressTable).WithStrategy(ipAddressStrategy).
			WithVersionOnRequest(resource.VersionOf[networkingv1beta1.IPAddress, networkingv1beta1.IPAddressList]("v1beta1"), nil, nil),
		resource.NamespaceScoped[networkingv1.NetworkPolicy, networkingv1.NetworkPolicyList](gv, "networkpolicies").
			WithShortNames("netpol").
			WithTable(policyTable).WithStrategy(policyStrategy()),
		resource.ClusterScoped[networkingv1.ServiceCIDR, networkingv1.ServiceCIDRList](gv, "servicecidrs").
			WithStatus().
			WithTable(serviceCIDRTable).WithStrategy(serviceCIDRStrategy()).
			WithVersionOnRequest(resource.VersionOf[networkingv1beta1.ServiceCIDR, networkingv1beta1.ServiceCIDRList]("v1beta1"), nil, nil),
	}
}
