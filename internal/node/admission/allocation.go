package admission

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/codec"
	"fairlead.dev/internal/quota"
)

// Amounts are quantities by resource: thousandths of cores, bytes, or pieces.
type Amounts map[corev1.ResourceName]int64

// Allocation holds the resources allocated to a pod, computed once for each version of it.
type Allocation struct {
	version *corev1.Pod
	amounts Amounts
}

// Of returns the resources allocated to a version of the pod. The caller must not change them.
func (a *Allocation) Of(pod *corev1.Pod) Amounts {
	if a.version != pod {
		a.version, a.amounts = pod, allocatedTo(pod)
	}
	return a.amounts
}

// allocatedTo returns the requests of a pod; for running containers, the resources allocated to them.
func allocatedTo(pod *corev1.Pod) Amounts {
	if pod = withAllocated(pod); requestsNothing(pod) {
		return nil
	}
	return amounts(quota.Sum{Overhead: true}.Requests(pod))
}

func amounts(list corev1.ResourceList) Amounts {
	l := Amounts{}
	for name, q := range list {
		if l[name] = q.Value(); name == corev1.ResourceCPU {
			l[name] = q.MilliValue()
		}
	}
	return l
}

func requestsNothing(pod *corev1.Pod) bool {
	asks := func(cs []corev1.Container) bool {
		return slices.ContainsFunc(cs, func(c corev1.Container) bool { return len(c.Resources.Requests) > 0 })
	}
	return !asks(pod.Spec.Containers) && !asks(pod.Spec.InitContainers) && pod.Spec.Resources == nil && len(pod.Spec.Overhead) == 0
}

// withAllocated returns the pod with the allocated resources of its containers as their requests. They differ
// while a resize has not been granted.
func withAllocated(pod *corev1.Pod) *corev1.Pod {
	s := &pod.Status
	if !WantsResize(pod, s) {
		return pod
	}
	p := *pod
	p.Spec.Containers = slices.Clone(pod.Spec.Containers)
	for i := range min(len(s.ContainerStatuses), len(p.Spec.Containers)) {
		if s.ContainerStatuses[i].AllocatedResources != nil {
			p.Spec.Containers[i].Resources.Requests = s.ContainerStatuses[i].AllocatedResources
		}
	}
	return &p
}

// WantsResize reports whether a running container has other resources than the pod's spec.
func WantsResize(pod *corev1.Pod, s *corev1.PodStatus) bool {
	for i := range min(len(s.ContainerStatuses), len(pod.Spec.Containers)) {
		if Differs(&pod.Spec.Containers[i], &s.ContainerStatuses[i]) {
			return true
		}
	}
	return false
}

// Differs reports whether a running container has other resources than its spec.
func Differs(spec *corev1.Container, c *corev1.ContainerStatus) bool {
	return c.Resources != nil && c.State.Running != nil && !codec.Equal(c.Resources, &spec.Resources)
}
