package admission

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
)

// hostPorts returns the ports of the node that a pod uses.
func hostPorts(pod *corev1.Pod) (ports []corev1.ContainerPort) {
	add := func(c *corev1.Container) {
		for _, p := range c.Ports {
			if p.HostPort > 0 {
				ports = append(ports, p)
			}
		}
	}
	for i := range pod.Spec.Containers {
		add(&pod.Spec.Containers[i])
	}
	for i := range pod.Spec.InitContainers {
		if IsSidecar(&pod.Spec.InitContainers[i]) {
			add(&pod.Spec.InitContainers[i])
		}
	}
	return ports
}

// IsSidecar reports whether an init container runs beside the containers that start after it.
func IsSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// portsConflict reports whether two pods use the same host port. A port without an address is one of all
// addresses.
func portsConflict(a, b []corev1.ContainerPort) bool {
	everywhere := func(ip string) bool { return ip == "" || ip == "0.0.0.0" }
	for _, p := range a {
		for _, q := range b {
			if p.HostPort == q.HostPort && cmp.Or(p.Protocol, corev1.ProtocolTCP) == cmp.Or(q.Protocol, corev1.ProtocolTCP) &&
				(p.HostIP == q.HostIP || everywhere(p.HostIP) || everywhere(q.HostIP)) {
				return true
			}
		}
	}
	return false
}
