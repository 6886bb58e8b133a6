package backends

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"fairlead.dev/internal/controllers/podcontrol"
)

// hasPlace reports whether a pod may be among endpoints at all.
func hasPlace(p *corev1.Pod, withTerminating bool) bool {
	if podcontrol.IsFinished(p) || (p.Status.PodIP == "" && len(p.Status.PodIPs) == 0) {
		return false
	}
	return withTerminating || p.DeletionTimestamp == nil
}

// sameBackend reports whether two states of a pod are equal for a Service, apart from labels.
func sameBackend(a, b *corev1.Pod) bool {
	return a.UID == b.UID &&
		(a.DeletionTimestamp == nil) == (b.DeletionTimestamp == nil) &&
		podcontrol.IsFinished(a) == podcontrol.IsFinished(b) &&
		podcontrol.IsReady(a) == podcontrol.IsReady(b) &&
		a.Status.PodIP == b.Status.PodIP &&
		slices.Equal(a.Status.PodIPs, b.Status.PodIPs) &&
		a.Spec.NodeName == b.Spec.NodeName &&
		a.Spec.Hostname == b.Spec.Hostname && a.Spec.Subdomain == b.Spec.Subdomain
}

// Port returns the port number of the pod for a Service's port; a named port is looked up in the pod's containers
// and sidecars.
func Port(p *corev1.Pod, port *corev1.ServicePort) (int32, bool) {
	if port.TargetPort.Type == intstr.Int {
		return port.TargetPort.IntVal, true
	}
	for i := range p.Spec.Containers {
		if n, ok := namedPort(&p.Spec.Containers[i], port); ok {
			return n, true
		}
	}
	for i := range p.Spec.InitContainers {
		c := &p.Spec.InitContainers[i]
		if c.RestartPolicy == nil || *c.RestartPolicy != corev1.ContainerRestartPolicyAlways {
			continue
		}
		if n, ok := namedPort(c, port); ok {
			return n, true
		}
	}
	return 0, false
}

func namedPort(c *corev1.Container, port *corev1.ServicePort) (int32, bool) {
	for _, cp := range c.Ports {
		if cp.Name == port.TargetPort.StrVal && cp.Protocol == port.Protocol {
			return cp.ContainerPort, true
		}
	}
	return 0, false
}

// Headless reports whether the Service has no cluster IP.
func Headless(svc *corev1.Service) bool {
	return svc.Spec.ClusterIP == corev1.ClusterIPNone || svc.Spec.ClusterIP == ""
}

// NamedHost reports whether the pod's hostname is a name below the Service.
func NamedHost(p *corev1.Pod, svc *corev1.Service) bool {
	return p.Spec.Hostname != "" && p.Spec.Subdomain == svc.Name && p.Namespace == svc.Namespace
}
