package podspec

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/resource"
)

// DefaultPod sets the defaults of a pod: those of its spec, and those that templates do not get: requests from
// limits, service links, and host ports in the host network.
func DefaultPod(p *corev1.Pod) {
	Default(&p.Spec)
	if s := p.Spec.TerminationGracePeriodSeconds; s != nil && *s < 0 {
		p.Spec.TerminationGracePeriodSeconds = ptr.To[int64](1)
	}
	for i := range p.Spec.Containers {
		requestsFromLimits(&p.Spec.Containers[i].Resources)
	}
	for i := range p.Spec.InitContainers {
		requestsFromLimits(&p.Spec.InitContainers[i].Resources)
	}
	resource.SetDefault(&p.Spec.EnableServiceLinks, corev1.DefaultEnableServiceLinks)
	if p.Spec.HostNetwork {
		hostPorts(p.Spec.Containers)
		hostPorts(p.Spec.InitContainers)
	}
	defaultStatus(&p.Status)
}

// defaultStatus sets the pod's first address in both fields that hold it; the older one wins.
func defaultStatus(s *corev1.PodStatus) {
	if s.PodIP != "" && (len(s.PodIPs) == 0 || s.PodIPs[0].IP != s.PodIP) {
		s.PodIPs = []corev1.PodIP{{IP: s.PodIP}}
	} else if len(s.PodIPs) > 0 {
		s.PodIP = s.PodIPs[0].IP
	}
	RoundUp(s.AllocatedResources)
	roundRequirements(s.Resources)
	for _, list := range [][]corev1.ContainerStatus{s.InitContainerStatuses, s.ContainerStatuses, s.EphemeralContainerStatuses} {
		for i := range list {
			RoundUp(list[i].AllocatedResources)
			roundRequirements(list[i].Resources)
		}
	}
}

func roundRequirements(r *corev1.ResourceRequirements) {
	if r != nil {
		RoundUp(r.Limits)
		RoundUp(r.Requests)
	}
}

func hostPorts(containers []corev1.Container) {
	for i := range containers {
		for k := range containers[i].Ports {
			if port := &containers[i].Ports[k]; port.HostPort == 0 {
				port.HostPort = port.ContainerPort
			}
		}
	}
}

func requestsFromLimits(r *corev1.ResourceRequirements) {
	if r.Limits == nil {
		return
	}
	if r.Requests == nil {
		r.Requests = corev1.ResourceList{}
	}
	for name, amount := range r.Limits {
		if _, set := r.Requests[name]; !set {
			r.Requests[name] = amount.DeepCopy()
		}
	}
}
