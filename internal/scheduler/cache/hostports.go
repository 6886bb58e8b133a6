package cache

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
)

// A HostPort is a port of the node that a container uses.
type HostPort struct {
	protocol corev1.Protocol
	port     int32
	ip       string
}

const anyIP = "0.0.0.0"

func hostPorts(pod *corev1.Pod) []HostPort {
	var ports []HostPort
	take := func(containers []corev1.Container, only func(*corev1.Container) bool) {
		for i := range containers {
			if !only(&containers[i]) {
				continue
			}
			for _, p := range containers[i].Ports {
				if p.HostPort > 0 {
					ports = append(ports, HostPort{
						cmp.Or(p.Protocol, corev1.ProtocolTCP), p.HostPort, cmp.Or(p.HostIP, anyIP),
					})
				}
			}
		}
	}
	take(pod.Spec.Containers, func(*corev1.Container) bool { return true })
	take(pod.Spec.InitContainers, func(c *corev1.Container) bool {
		return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
	})
	return ports
}

// Conflicts reports whether both cannot be used on one node: same protocol and port, and the same
// address, or one of them uses all addresses.
func (p HostPort) Conflicts(o HostPort) bool {
	return p.protocol == o.protocol && p.port == o.port &&
		(p.ip == o.ip || p.ip == anyIP || o.ip == anyIP)
}
