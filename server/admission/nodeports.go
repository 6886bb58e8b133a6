package admission

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// nodePorts takes the node ports a service of its type needs. Ports of the same
// number share one, as DNS over UDP and TCP do.
func (t *allocation) nodePorts() error {
	s := &t.svc.Spec
	if usesNodePorts(s) {
		byPort := map[int32]int32{}
		for i := range s.Ports {
			if err := t.nodePort(i, byPort); err != nil {
				return err
			}
		}
	}
	if !checksHealth(s) {
		return nil
	}
	if s.HealthCheckNodePort != 0 {
		if err := t.take(holding{port: int(s.HealthCheckNodePort)}, "port"); err != nil {
			return apierrors.NewInternalError(fmt.Errorf("failed to allocate requested HealthCheck NodePort %v: %w", s.HealthCheckNodePort, err))
		}
		return nil
	}
	p, err := t.anyPort()
	if err != nil {
		return apierrors.NewInternalError(fmt.Errorf("failed to allocate a HealthCheck NodePort %v: %w", p, err))
	}
	s.HealthCheckNodePort = p
	return nil
}

// nodePort takes one for the port at index i. byPort holds what the ports
// before it got.
func (t *allocation) nodePort(i int, byPort map[int32]int32) error {
	s := &t.svc.Spec
	p := &s.Ports[i]
	if p.NodePort == 0 && !wantsNodePorts(s) {
		return nil
	}
	shared := byPort[p.Port]
	if shared == 0 {
		shared = requested(s.Ports[i:], p.Port)
	}
	if p.NodePort == 0 {
		p.NodePort = shared
	}
	if p.NodePort == 0 {
		n, err := t.anyPort()
		if err != nil {
			return apierrors.NewInternalError(fmt.Errorf("failed to allocate a nodePort: %w", err))
		}
		p.NodePort = n
	} else if err := t.take(holding{port: int(p.NodePort)}, "port"); err != nil {
		return invalidService(t.svc, field.Invalid(field.NewPath("spec", "ports").Index(i).Child("nodePort"), p.NodePort, err.Error()))
	}
	if byPort[p.Port] == 0 {
		byPort[p.Port] = p.NodePort
	}
	return nil
}

func (t *allocation) anyPort() (int32, error) {
	if t.r.DryRun {
		return t.somePort(), nil
	}
	n, err := t.a.mu.ports.next(t.owner, func(owner string, n int) bool {
		return t.stale(owner, holding{port: t.a.port0 + n})
	})
	if err != nil {
		return 0, err
	}
	port := t.a.port0 + n
	t.took(holding{port: port})
	return int32(port), nil
}

// requested is the node port that any of the ports of that number names.
func requested(ports []corev1.ServicePort, number int32) int32 {
	for _, p := range ports {
		if p.Port == number && p.NodePort != 0 {
			return p.NodePort
		}
	}
	return 0
}

func usesNodePorts(s *corev1.ServiceSpec) bool {
	return s.Type == corev1.ServiceTypeNodePort || s.Type == corev1.ServiceTypeLoadBalancer
}

// wantsNodePorts says whether ports are given out unasked.
func wantsNodePorts(s *corev1.ServiceSpec) bool {
	return s.Type == corev1.ServiceTypeNodePort ||
		s.Type == corev1.ServiceTypeLoadBalancer && (s.AllocateLoadBalancerNodePorts == nil || *s.AllocateLoadBalancerNodePorts)
}

func checksHealth(s *corev1.ServiceSpec) bool {
	return s.Type == corev1.ServiceTypeLoadBalancer && s.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
}

func hasClusterIP(s *corev1.ServiceSpec) bool { return s.Type != corev1.ServiceTypeExternalName }

// keepAllocated lets an update that does not name what the service was given
// keep it, and drops what its new type has no use for.
func keepAllocated(svc, old *corev1.Service) {
	s, o := &svc.Spec, &old.Spec
	if s.ClusterIP != o.ClusterIP && slices.Equal(s.ClusterIPs, o.ClusterIPs) { // an old client changed the one field it knows
		s.ClusterIPs = nil
		if s.ClusterIP != "" {
			s.ClusterIPs = []string{s.ClusterIP}
		}
	}
	switch {
	case hasClusterIP(s) && hasClusterIP(o):
		if s.ClusterIP == "" {
			s.ClusterIP = o.ClusterIP
		}
		if len(s.ClusterIPs) == 0 && s.ClusterIP == o.ClusterIP {
			s.ClusterIPs = append([]string(nil), o.ClusterIPs...)
		}
	case !hasClusterIP(s) && hasClusterIP(o) && slices.Equal(s.ClusterIPs, o.ClusterIPs):
		s.ClusterIP, s.ClusterIPs, s.IPFamilies, s.IPFamilyPolicy = "", nil, nil, nil
	}
	if usesNodePorts(s) && usesNodePorts(o) {
		keepPorts(s, o)
	} else if !usesNodePorts(s) && usesNodePorts(o) && samePorts(s.Ports, o.Ports) {
		for i := range s.Ports {
			s.Ports[i].NodePort = 0
		}
	}
	switch {
	case checksHealth(s) && checksHealth(o) && s.HealthCheckNodePort == 0:
		s.HealthCheckNodePort = o.HealthCheckNodePort
	case !checksHealth(s) && s.HealthCheckNodePort == o.HealthCheckNodePort:
		s.HealthCheckNodePort = 0
	}
}

// keepPorts gives the ports that stayed the node ports they had.
func keepPorts(s, o *corev1.ServiceSpec) {
	type key struct {
		protocol corev1.Protocol
		port     int32
	}
	had, named := map[key]int32{}, map[int32]bool{}
	for _, p := range o.Ports {
		had[key{p.Protocol, p.Port}] = p.NodePort
	}
	for _, p := range s.Ports {
		named[p.NodePort] = true
	}
	for i := range s.Ports {
		p := &s.Ports[i]
		if was := had[key{p.Protocol, p.Port}]; p.NodePort == 0 && !named[was] {
			p.NodePort = was
		}
	}
}

// samePorts says whether no node port was changed.
func samePorts(a, b []corev1.ServicePort) bool {
	return slices.EqualFunc(a, b, func(x, y corev1.ServicePort) bool { return x.NodePort == y.NodePort })
}
