package devices

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// ExtendedRequests returns the requests for devices that stand for a pod's extended resources of these names, each of
// which has a class, and which container uses which request. Containers that run at the same time have requests of
// their own. An init container, which ends before the next one starts, uses the devices of those that start later, and
// if these are too few, a request that all init containers share.
func (s *State) ExtendedRequests(pod *corev1.Pod, names []corev1.ResourceName) ([]resourcev1.DeviceRequest, []corev1.ContainerExtendedResourceRequest) {
	var requests []resourcev1.DeviceRequest
	var uses []corev1.ContainerExtendedResourceRequest
	for _, name := range slices.Sorted(slices.Values(names)) {
		if class := s.byResource[name]; class != nil {
			e := extendedResource{name: name, class: class.Name}
			e.add(pod)
			requests, uses = append(requests, e.requests...), append(append(uses, e.longUses...), e.shortUses...)
		}
	}
	slices.SortFunc(requests, func(a, b resourcev1.DeviceRequest) int { return cmp.Compare(a.Name, b.Name) })
	return requests, uses
}

// An extendedResource collects the requests of a pod's containers for one resource.
type extendedResource struct {
	name                corev1.ResourceName
	class               string
	requests            []resourcev1.DeviceRequest
	longUses, shortUses []corev1.ContainerExtendedResourceRequest
}

func (e *extendedResource) add(pod *corev1.Pod) {
	all := slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers)
	short := func(i int) bool {
		policy := all[i].RestartPolicy
		return i < len(pod.Spec.InitContainers) && (policy == nil || *policy != corev1.ContainerRestartPolicyAlways)
	}
	long := make([]*resourcev1.DeviceRequest, len(all)) // by container; nil: it has none
	for i := range all {
		if want := e.wanted(&all[i]); !short(i) && want > 0 {
			r := e.request(i, &all[i], want)
			long[i], e.requests = &r, append(e.requests, r)
			e.longUses = append(e.longUses, e.use(&all[i], r.Name))
		}
	}
	var largest *resourcev1.DeviceRequest // of short ones
	own := []int{}                        // indexes in shortUses of uses of such a request
	for i := range all {
		want := e.wanted(&all[i])
		if !short(i) || want == 0 {
			continue
		}
		for _, later := range long[i:] {
			if later != nil && want > 0 {
				want -= later.Exactly.Count
				e.shortUses = append(e.shortUses, e.use(&all[i], later.Name))
			}
		}
		if want <= 0 {
			continue
		}
		r := e.request(i, &all[i], want)
		if largest == nil || r.Exactly.Count > largest.Exactly.Count {
			largest = &r
		}
		own = append(own, len(e.shortUses))
		e.shortUses = append(e.shortUses, e.use(&all[i], r.Name))
	}
	if largest != nil {
		e.requests = append(e.requests, *largest)
		for _, i := range own {
			e.shortUses[i].RequestName = largest.Name
		}
	}
}

// wanted returns how much of the resource a container requests.
func (e *extendedResource) wanted(c *corev1.Container) int64 {
	q := c.Resources.Requests[e.name]
	n, _ := q.AsInt64()
	return n
}

// request returns the request of the container with index i among init containers and containers.
func (e *extendedResource) request(i int, c *corev1.Container, count int64) resourcev1.DeviceRequest {
	at := slices.Index(slices.Sorted(maps.Keys(c.Resources.Requests)), e.name)
	return resourcev1.DeviceRequest{
		Name: fmt.Sprintf("container-%d-request-%d", i, at),
		Exactly: &resourcev1.ExactDeviceRequest{
			DeviceClassName: e.class, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: count,
		},
	}
}

func (e *extendedResource) use(c *corev1.Container, request string) corev1.ContainerExtendedResourceRequest {
	return corev1.ContainerExtendedResourceRequest{ContainerName: c.Name, ResourceName: e.name.String(), RequestName: request}
}
