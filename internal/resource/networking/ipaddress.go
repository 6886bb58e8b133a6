package networking

import (
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// IPAllocator is the value of the label ipaddress.kubernetes.io/managed-by of the IPAddresses
// that an API server makes for cluster IPs.
const IPAllocator = "ipallocator.k8s.io"

// NewIPAddress returns the IPAddress of a service's cluster IP.
func NewIPAddress(ip netip.Addr, svc *corev1.Service) *networkingv1.IPAddress {
	return &networkingv1.IPAddress{
		TypeMeta:   metav1.TypeMeta{APIVersion: networkingv1.SchemeGroupVersion.String(), Kind: "IPAddress"},
		ObjectMeta: metav1.ObjectMeta{Name: ip.String(), Labels: labels(ip)},
		Spec: networkingv1.IPAddressSpec{ParentRef: &networkingv1.ParentReference{
			Resource: "services", Namespace: svc.Namespace, Name: svc.Name,
		}},
	}
}

// BelongsTo reports whether an IPAddress names the service as its parent.
func BelongsTo(a *networkingv1.IPAddress, svc *corev1.Service) bool {
	p := a.Spec.ParentRef
	return p != nil && p.Group == "" && p.Resource == "services" && p.Namespace == svc.Namespace && p.Name == svc.Name
}

func labels(ip netip.Addr) map[string]string {
	family := corev1.IPv4Protocol
	if ip.Is6() {
		family = corev1.IPv6Protocol
	}
	return map[string]string{networkingv1.LabelIPAddressFamily: string(family), networkingv1.LabelManagedBy: IPAllocator}
}

// HasLabels reports whether an IPAddress has the labels of those that an API server makes for cluster IPs.
func HasLabels(a *networkingv1.IPAddress, ip netip.Addr) bool {
	for key, value := range labels(ip) {
		if a.Labels[key] != value {
			return false
		}
	}
	return true
}
