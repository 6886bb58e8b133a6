//lint:file-ignore SA1019 Endpoints are deprecated, and served

package bootstrap

import (
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ServiceIP returns the address of the kubernetes service, the first of the range.
func ServiceIP(cidr netip.Prefix) netip.Addr { return cidr.Masked().Addr().Next() }

// Service returns the kubernetes service and the endpoints that lead from it to the server; no objects without a range
// of service addresses.
func Service(o Options) []runtime.Object {
	if len(o.ServiceCIDRs) == 0 {
		return nil
	}
	ip := ServiceIP(o.ServiceCIDRs[0])
	var ranges []string
	for _, p := range o.ServiceCIDRs {
		ranges = append(ranges, p.Masked().String())
	}
	family, addressType := corev1.IPv4Protocol, discoveryv1.AddressTypeIPv4
	if ip.Is6() {
		family = corev1.IPv6Protocol
	}
	if o.Address.Is6() {
		addressType = discoveryv1.AddressTypeIPv6
	}
	serviceType := corev1.ServiceTypeClusterIP
	if o.NodePort > 0 {
		serviceType = corev1.ServiceTypeNodePort
	}
	single := corev1.IPFamilyPolicySingleStack
	list := []runtime.Object{
		&networkingv1.ServiceCIDR{
			TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "ServiceCIDR"},
			ObjectMeta: metav1.ObjectMeta{Name: "kubernetes"},
			Spec:       networkingv1.ServiceCIDRSpec{CIDRs: ranges},
		},
		&corev1.Service{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
			ObjectMeta: metav1.ObjectMeta{
				Name: "kubernetes", Namespace: "default",
				Labels: map[string]string{"provider": "kubernetes", "component": "apiserver"},
			},
			Spec: corev1.ServiceSpec{
				Type:           serviceType,
				ClusterIP:      ip.String(),
				ClusterIPs:     []string{ip.String()},
				IPFamilies:     []corev1.IPFamily{family},
				IPFamilyPolicy: &single,
				Ports: []corev1.ServicePort{{
					Name: "https", Protocol: corev1.ProtocolTCP, Port: 443, TargetPort: intstr.FromInt(o.Port), NodePort: int32(o.NodePort),
				}},
				SessionAffinity: corev1.ServiceAffinityNone,
			},
		},
	}
	if !o.Address.IsValid() {
		return list
	}
	name, port, protocol, ready := "https", int32(o.Port), corev1.ProtocolTCP, true
	return append(list,
		&corev1.Endpoints{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Endpoints"},
			ObjectMeta: metav1.ObjectMeta{
				Name: "kubernetes", Namespace: "default",
				Labels: map[string]string{discoveryv1.LabelSkipMirror: "true"},
			},
			Subsets: []corev1.EndpointSubset{{
				Addresses: []corev1.EndpointAddress{{IP: o.Address.String()}},
				Ports:     []corev1.EndpointPort{{Name: name, Port: port, Protocol: protocol}},
			}},
		},
		&discoveryv1.EndpointSlice{
			TypeMeta: metav1.TypeMeta{APIVersion: "discovery.k8s.io/v1", Kind: "EndpointSlice"},
			ObjectMeta: metav1.ObjectMeta{
				Name: "kubernetes", Namespace: "default",
				Labels: map[string]string{discoveryv1.LabelServiceName: "kubernetes"},
			},
			AddressType: addressType,
			Endpoints: []discoveryv1.Endpoint{{
				Addresses:  []string{o.Address.String()},
				Conditions: discoveryv1.EndpointConditions{Ready: &ready},
			}},
			Ports: []discoveryv1.EndpointPort{{Name: &name, Port: &port, Protocol: &protocol}},
		})
}
