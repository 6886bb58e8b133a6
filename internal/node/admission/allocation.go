package admission

import (
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/codec"
	"fairlead.dev/internal/quota"
)

// Amounts are quantities of resources. They are few, and a node has those of each of its pods: a map would take five times
// the memory.
type Amounts []Amount

// An Amount is how much there is of a resource: thousandths of cores, bytes, or pieces.
type Amount struct {
	Resource corev1.ResourceName
	N        int64
}

// Of returns the amount of a resource, 0 without one.
func (a Amounts) Of(name corev1.ResourceName) int64 {
	for _, one := range a {
		if one.Resource == name {
			return one.N
		}
	}
	return 0
}

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
	l := make(Amounts, 0, len(list))
	for name, q := range list {
		n := q.Value()
		if name == corev1.ResourceCPU {
			n = q.MilliValue()
		}
		l = append(l, Amount{name, n})
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
	p.Spec.InitContainers, p.Spec.Containers = slices.Clone(pod.Spec.InitContainers), slices.Clone(pod.Spec.Containers)
	for spec, c := range Containers(&p, s) {
		if c.AllocatedResources != nil {
			spec.Resources.Requests = c.AllocatedResources
		}
	}
	return &p
}

// Containers returns the init containers and containers of a pod with their statuses.
func Containers(pod *corev1.Pod, s *corev1.PodStatus) iter.Seq2[*corev1.Container, *corev1.ContainerStatus] {
	return func(yield func(*corev1.Container, *corev1.ContainerStatus) bool) {
		for i := range min(len(s.InitContainerStatuses), len(pod.Spec.InitContainers)) {
			if !yield(&pod.Spec.InitContainers[i], &s.InitContainerStatuses[i]) {
				return
			}
		}
		for i := range min(len(s.ContainerStatuses), len(pod.Spec.Containers)) {
			if !yield(&pod.Spec.Containers[i], &s.ContainerStatuses[i]) {
				return
			}
		}
	}
}

// WantsResize reports whether a running container has other resources than the pod's spec.
func WantsResize(pod *corev1.Pod, s *corev1.PodStatus) bool {
	for spec, c := range Containers(pod, s) {
		if Differs(spec, c) {
			return true
		}
	}
	return false
}

// Differs reports whether a running container has other resources than its spec.
func Differs(spec *corev1.Container, c *corev1.ContainerStatus) bool {
	return c.Resources != nil && c.State.Running != nil && !codec.Equal(c.Resources, &spec.Resources)
}
