package core

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// serviceWarnings reports deprecated fields of a service, and fields without effect for its type.
func serviceWarnings(s *corev1.Service) (out []string) {
	spec, outside := &s.Spec, s.Spec.Type == corev1.ServiceTypeExternalName
	if _, ok := s.Annotations[corev1.DeprecatedAnnotationTopologyAwareHints]; ok {
		out = append(out, fmt.Sprintf("annotation %s is deprecated, please use %s instead", corev1.DeprecatedAnnotationTopologyAwareHints, corev1.AnnotationTopologyMode))
	}
	none := spec.Type == corev1.ServiceTypeClusterIP && spec.ClusterIP == corev1.ClusterIPNone
	if none && spec.LoadBalancerIP != "" {
		out = append(out, "spec.loadBalancerIP is ignored for headless services")
	}
	if none && spec.SessionAffinity != corev1.ServiceAffinityNone {
		out = append(out, "spec.SessionAffinity is ignored for headless services")
	}
	switch {
	case len(spec.ExternalIPs) == 0:
	case none:
		out = append(out, "spec.externalIPs is ignored for headless services")
	case outside:
		out = append(out, fmt.Sprintf("spec.externalIPs is ignored when spec.type is %q", spec.Type))
	default:
		out = append(out, "spec.externalIPs is deprecated and may no longer be implemented in some clusters")
	}
	if !outside && spec.ExternalName != "" {
		out = append(out, fmt.Sprintf("spec.externalName is ignored when spec.type is not %q", corev1.ServiceTypeExternalName))
	}
	if d := spec.TrafficDistribution; d != nil && *d == corev1.ServiceTrafficDistributionPreferClose {
		out = append(out, fmt.Sprintf("spec.trafficDistribution: %q is deprecated; use %q", *d, corev1.ServiceTrafficDistributionPreferSameZone))
	}
	return out
}
