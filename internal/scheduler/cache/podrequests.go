package cache

import corev1 "k8s.io/api/core/v1"

// The amounts that scores (not filters) assume for a container without requests.
const (
	assumedMilliCPU = 100
	assumedMemory   = 200 * 1024 * 1024
)

// podRequests returns the requests of a pod. Containers and sidecars run together; each ordinary
// init container runs alone with the sidecars that started before it. The pod needs the larger of
// the two, plus its overhead. Requests at the pod level replace the sum. Until a resize is
// finished, a container counts with the larger of its requested and its allocated resources. With
// assumed set, a container without a request for CPU or memory counts as a small one.
func podRequests(pod *corev1.Pod, assumed bool) Resources {
	var run, sidecars, init Resources
	resizes := IsResizing(pod)
	for i := range pod.Spec.Containers {
		c := containerRequests(&pod.Spec.Containers[i], assumed)
		if resizes {
			given := allotted(pod, pod.Spec.Containers[i].Name)
			c.atLeast(&given)
		}
		run.add(&c, 1)
	}
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		need := containerRequests(c, assumed)
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			run.add(&need, 1)
			sidecars.add(&need, 1)
			init.atLeast(&sidecars)
			continue
		}
		need.add(&sidecars, 1)
		init.atLeast(&need)
	}
	run.atLeast(&init)
	if whole := pod.Spec.Resources; whole != nil {
		for name, q := range whole.Requests {
			run.set(name, amount(name, q))
		}
	}
	if len(pod.Spec.Overhead) > 0 {
		overhead := resourcesOf(pod.Spec.Overhead)
		run.add(&overhead, 1)
	}
	return run
}

// IsResizing reports whether containers of a running pod may have other resources than the spec
// requests.
func IsResizing(pod *corev1.Pod) bool {
	if len(pod.Status.ContainerStatuses) == 0 {
		return false
	}
	for i := range pod.Status.Conditions {
		if t := pod.Status.Conditions[i].Type; t == corev1.PodResizePending || t == corev1.PodResizeInProgress {
			return true
		}
	}
	return pod.Status.ObservedGeneration != 0 && pod.Status.ObservedGeneration < pod.Generation
}

// allotted returns the allocated resources of a container.
func allotted(pod *corev1.Pod, name string) (r Resources) {
	for i := range pod.Status.ContainerStatuses {
		if c := &pod.Status.ContainerStatuses[i]; c.Name == name {
			r = resourcesOf(c.AllocatedResources)
			if c.Resources != nil {
				given := resourcesOf(c.Resources.Requests)
				r.atLeast(&given)
			}
		}
	}
	return r
}

func containerRequests(c *corev1.Container, assumed bool) Resources {
	r := resourcesOf(c.Resources.Requests)
	if assumed {
		if _, set := c.Resources.Requests[corev1.ResourceCPU]; !set {
			r.MilliCPU = assumedMilliCPU
		}
		if _, set := c.Resources.Requests[corev1.ResourceMemory]; !set {
			r.Memory = assumedMemory
		}
	}
	return r
}
