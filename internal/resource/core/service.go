package core

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
)

func serviceStrategy() resource.Strategy {
	r := resource.SpecAndStatus(func(s *corev1.Service) (*corev1.ServiceSpec, *corev1.ServiceStatus) { return &s.Spec, &s.Status })
	r.Default = defaultService
	create, update := r.PrepareForCreate, r.PrepareForUpdate
	r.PrepareForCreate = func(s *corev1.Service) {
		create(s)
		if s.Spec.Type == corev1.ServiceTypeExternalName {
			s.Spec.InternalTrafficPolicy = nil
		}
		if s.Spec.ClusterIP != "" && len(s.Spec.ClusterIPs) == 0 {
			s.Spec.ClusterIPs = []string{s.Spec.ClusterIP}
		}
	}
	r.PrepareForUpdate = func(s, old *corev1.Service) {
		update(s, old)
		KeepAllocated(s, old)
	}
	r.Validate = func(s *corev1.Service) field.ErrorList { return validateService(s, nil) }
	r.ValidateUpdate = validateServiceUpdate
	r.ValidateStatusUpdate = validateServiceStatus
	r.Warnings = serviceWarnings
	r.AllowCreateOnUpdate = true
	return r.Strategy()
}

func defaultService(s *corev1.Service) {
	spec := &s.Spec
	if spec.SessionAffinity == "" {
		spec.SessionAffinity = corev1.ServiceAffinityNone
	}
	switch spec.SessionAffinity {
	case corev1.ServiceAffinityNone:
		spec.SessionAffinityConfig = nil
	case corev1.ServiceAffinityClientIP:
		if c := spec.SessionAffinityConfig; c == nil || c.ClientIP == nil || c.ClientIP.TimeoutSeconds == nil {
			spec.SessionAffinityConfig = &corev1.SessionAffinityConfig{
				ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: ptr.To(corev1.DefaultClientIPServiceAffinitySeconds)},
			}
		}
	}
	if spec.Type == "" {
		spec.Type = corev1.ServiceTypeClusterIP
	}
	for i := range spec.Ports {
		p := &spec.Ports[i]
		if p.Protocol == "" {
			p.Protocol = corev1.ProtocolTCP
		}
		if p.TargetPort == intstr.FromInt32(0) || p.TargetPort == intstr.FromString("") {
			p.TargetPort = intstr.FromInt32(p.Port)
		}
	}
	if isExternal(s) && spec.ExternalTrafficPolicy == "" {
		spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyCluster
	}
	if spec.InternalTrafficPolicy == nil && spec.Type != corev1.ServiceTypeExternalName && isServiceType(spec.Type) {
		spec.InternalTrafficPolicy = ptr.To(corev1.ServiceInternalTrafficPolicyCluster)
	}
	if spec.Type != corev1.ServiceTypeLoadBalancer {
		return
	}
	resource.SetDefault(&spec.AllocateLoadBalancerNodePorts, true)
	for i := range s.Status.LoadBalancer.Ingress {
		if in := &s.Status.LoadBalancer.Ingress[i]; in.IP != "" && in.IPMode == nil {
			in.IPMode = ptr.To(corev1.LoadBalancerIPModeVIP)
		}
	}
}

var serviceTypes = []corev1.ServiceType{
	corev1.ServiceTypeClusterIP, corev1.ServiceTypeExternalName, corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort,
}

func isServiceType(t corev1.ServiceType) bool { return slices.Contains(serviceTypes, t) }

// isExternal reports whether the service can be reached from outside the cluster.
func isExternal(s *corev1.Service) bool {
	switch s.Spec.Type {
	case corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort:
		return true
	case corev1.ServiceTypeClusterIP:
		return len(s.Spec.ExternalIPs) > 0
	}
	return false
}

func headless(s *corev1.Service) bool {
	return len(s.Spec.ClusterIPs) == 1 && s.Spec.ClusterIPs[0] == corev1.ClusterIPNone
}

func hasClusterIP(s *corev1.Service) bool { return s.Spec.Type != corev1.ServiceTypeExternalName }

func hasNodePorts(s *corev1.Service) bool {
	return s.Spec.Type == corev1.ServiceTypeNodePort || s.Spec.Type == corev1.ServiceTypeLoadBalancer
}

func hasHealthPort(s *corev1.Service) bool {
	return s.Spec.Type == corev1.ServiceTypeLoadBalancer && s.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
}

// dropForType clears fields that belong to the old type of a service and that its new type does not use, unless the
// user changed them.
func dropForType(s, old *corev1.Service) {
	now, was := &s.Spec, &old.Spec
	if hasClusterIP(old) && !hasClusterIP(s) {
		if now.ClusterIP == was.ClusterIP && slices.Equal(now.ClusterIPs, was.ClusterIPs) {
			now.ClusterIP, now.ClusterIPs = "", nil
		}
		if reflect.DeepEqual(now.IPFamilies, was.IPFamilies) {
			now.IPFamilies = nil
		}
		if reflect.DeepEqual(now.IPFamilyPolicy, was.IPFamilyPolicy) {
			now.IPFamilyPolicy = nil
		}
	}
	if now.Type == corev1.ServiceTypeExternalName {
		now.InternalTrafficPolicy = nil
	}
	if hasNodePorts(old) && !hasNodePorts(s) && sameNodePorts(was.Ports, now.Ports) {
		for i := range now.Ports {
			now.Ports[i].NodePort = 0
		}
	}
	if hasHealthPort(old) && !hasHealthPort(s) && now.HealthCheckNodePort == was.HealthCheckNodePort {
		now.HealthCheckNodePort = 0
	}
	if was.Type == corev1.ServiceTypeLoadBalancer && now.Type != corev1.ServiceTypeLoadBalancer {
		if now.AllocateLoadBalancerNodePorts != nil && reflect.DeepEqual(now.AllocateLoadBalancerNodePorts, was.AllocateLoadBalancerNodePorts) {
			now.AllocateLoadBalancerNodePorts = nil
		}
		if reflect.DeepEqual(now.LoadBalancerClass, was.LoadBalancerClass) {
			now.LoadBalancerClass = nil
		}
	}
	if isExternal(old) && !isExternal(s) && now.ExternalTrafficPolicy == was.ExternalTrafficPolicy {
		now.ExternalTrafficPolicy = ""
	}
	if now.Type != corev1.ServiceTypeLoadBalancer {
		s.Status.LoadBalancer = corev1.LoadBalancerStatus{}
	}
}

// sameNodePorts reports whether all node ports of the new list were in the old one.
func sameNodePorts(was, now []corev1.ServicePort) bool {
	for _, p := range now {
		if p.NodePort != 0 && !slices.ContainsFunc(was, func(o corev1.ServicePort) bool { return o.NodePort == p.NodePort }) {
			return false
		}
	}
	return true
}

// KeepAllocated restores addresses and node ports that an update omits, and clears those that the service's new
// type does not use. Remaining empty ones are set by the allocators; a second call then has no effect.
func KeepAllocated(s, old *corev1.Service) {
	now, was := &s.Spec, &old.Spec
	if hasClusterIP(old) && hasClusterIP(s) {
		if now.ClusterIP == "" {
			now.ClusterIP = was.ClusterIP
		}
		if len(now.ClusterIPs) == 0 {
			now.ClusterIPs = was.ClusterIPs
		}
	}
	if WantsNodePorts(old) && WantsNodePorts(s) {
		keepNodePorts(now.Ports, was.Ports)
	}
	if hasHealthPort(old) && hasHealthPort(s) && now.HealthCheckNodePort == 0 {
		now.HealthCheckNodePort = was.HealthCheckNodePort
	}
	syncClusterIPs(now, was)
	dropForType(s, old)
}

// syncClusterIPs adapts the list of addresses to the single address, for clients that only know the latter.
func syncClusterIPs(now, was *corev1.ServiceSpec) {
	if len(was.ClusterIPs) > 0 && len(now.ClusterIPs) == 0 && was.ClusterIP == now.ClusterIP {
		now.ClusterIPs = was.ClusterIPs
	}
	if was.ClusterIP != now.ClusterIP && slices.Equal(was.ClusterIPs, now.ClusterIPs) {
		if now.ClusterIP == "" {
			now.ClusterIPs = nil
		} else {
			now.ClusterIPs = []string{now.ClusterIP}
		}
	}
}

// WantsNodePorts reports whether node ports are allocated without a request.
func WantsNodePorts(s *corev1.Service) bool {
	asked := s.Spec.AllocateLoadBalancerNodePorts
	return hasNodePorts(s) && (s.Spec.Type == corev1.ServiceTypeNodePort || asked == nil || *asked)
}

func keepNodePorts(now, was []corev1.ServicePort) {
	used := map[int32]bool{}
	for _, p := range now {
		used[p.NodePort] = true
	}
	byName := map[string]int32{}
	for _, p := range was {
		byName[p.Name] = p.NodePort
	}
	for i := range now {
		if p := &now[i]; p.NodePort == 0 && !used[byName[p.Name]] {
			p.NodePort = byName[p.Name]
		}
	}
}
