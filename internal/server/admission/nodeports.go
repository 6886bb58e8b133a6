package admission

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	corekinds "fairlead.dev/internal/resource/core"
)

// nodePorts allocates the node ports that a service of its type needs. Ports of the same number share one node
// port, as DNS over UDP and TCP does.
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
		if err := t.takePort(holding{port: int(s.HealthCheckNodePort)}); err != nil {
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

// nodePort allocates the node port of the port at index i. byPort holds those of earlier ports.
func (t *allocation) nodePort(i int, byPort map[int32]int32) error {
	s := &t.svc.Spec
	p := &s.Ports[i]
	if p.NodePort == 0 && !corekinds.WantsNodePorts(t.svc) {
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
	} else if err := t.takePort(holding{port: int(p.NodePort)}); err != nil {
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
	for {
		n, err := t.a.mu.ports.next(t.owner, func(owner string, n int) bool {
			return t.stale(owner, holding{port: t.a.port0 + n})
		})
		if err != nil {
			return 0, err
		}
		free, err := t.reserve(n)
		if err != nil {
			return 0, err
		}
		if free {
			port := t.a.port0 + n
			t.took(holding{port: port})
			return int32(port), nil
		}
	}
}

// requested returns the node port requested by any of the ports of that number.
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

func checksHealth(s *corev1.ServiceSpec) bool {
	return s.Type == corev1.ServiceTypeLoadBalancer && s.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
}
