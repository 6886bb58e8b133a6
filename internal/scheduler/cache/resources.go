package cache

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// What a container without a request is taken to use when nodes are compared (not when
// it is checked that the pod fits).
const (
	assumedMilliCPU = 100
	assumedMemory   = 200 * 1024 * 1024
)

// Resources is an amount of each resource: CPU in thousandths of a core, memory and
// ephemeral storage in bytes, everything else (extended resources, huge pages) in units
// under its name.
type Resources struct {
	MilliCPU         int64
	Memory           int64
	EphemeralStorage int64
	Other            map[corev1.ResourceName]int64
}

func resourcesOf(list corev1.ResourceList) Resources {
	var r Resources
	for name, q := range list {
		r.set(name, amount(name, q))
	}
	return r
}

func amount(name corev1.ResourceName, q resource.Quantity) int64 {
	if name == corev1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

func (r *Resources) Get(name corev1.ResourceName) int64 {
	switch name {
	case corev1.ResourceCPU:
		return r.MilliCPU
	case corev1.ResourceMemory:
		return r.Memory
	case corev1.ResourceEphemeralStorage:
		return r.EphemeralStorage
	}
	return r.Other[name]
}

// ResourceKey is the name of a resource, resolved once for what is asked of every node.
type ResourceKey struct {
	kind resourceKind
	name corev1.ResourceName
}

type resourceKind uint8

const (
	otherKind resourceKind = iota
	cpuKind
	memoryKind
	storageKind
)

func NewResourceKey(name corev1.ResourceName) ResourceKey {
	switch name {
	case corev1.ResourceCPU:
		return ResourceKey{cpuKind, name}
	case corev1.ResourceMemory:
		return ResourceKey{memoryKind, name}
	case corev1.ResourceEphemeralStorage:
		return ResourceKey{storageKind, name}
	}
	return ResourceKey{otherKind, name}
}

// Of is get without comparing names.
func (r *Resources) Of(a *ResourceKey) int64 {
	switch a.kind {
	case cpuKind:
		return r.MilliCPU
	case memoryKind:
		return r.Memory
	case storageKind:
		return r.EphemeralStorage
	}
	return r.Other[a.name]
}

func (r *Resources) set(name corev1.ResourceName, v int64) {
	switch name {
	case corev1.ResourceCPU:
		r.MilliCPU = v
	case corev1.ResourceMemory:
		r.Memory = v
	case corev1.ResourceEphemeralStorage:
		r.EphemeralStorage = v
	case corev1.ResourcePods:
	default:
		if r.Other == nil {
			r.Other = map[corev1.ResourceName]int64{}
		}
		r.Other[name] = v
	}
}

// add adds o times n; n is 1 or -1.
func (r *Resources) add(o *Resources, n int64) {
	r.MilliCPU += n * o.MilliCPU
	r.Memory += n * o.Memory
	r.EphemeralStorage += n * o.EphemeralStorage
	for name, v := range o.Other {
		r.set(name, r.Other[name]+n*v)
	}
}

// atLeast raises each resource to o's amount.
func (r *Resources) atLeast(o *Resources) {
	r.MilliCPU = max(r.MilliCPU, o.MilliCPU)
	r.Memory = max(r.Memory, o.Memory)
	r.EphemeralStorage = max(r.EphemeralStorage, o.EphemeralStorage)
	for name, v := range o.Other {
		r.set(name, max(r.Other[name], v))
	}
}

// podRequests is what a pod asks of its node. Containers and sidecars run together;
// each ordinary init container runs alone with the sidecars that started before it; the
// pod needs the larger of the two, plus its overhead. Requests of the pod as a whole
// replace the sum. As long as a resize is not done, a container counts with the larger of what
// it asks for and what it has been given. With assumed set, a container without a request for CPU or memory
// counts as a small one.
func podRequests(pod *corev1.Pod, assumed bool) Resources {
	var run, sidecars, init Resources
	resizes := isResizing(pod)
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

// isResizing says whether containers of a pod that runs may have been given other resources than it asks
// for now.
func isResizing(pod *corev1.Pod) bool {
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

// allotted is what a container has been given.
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
