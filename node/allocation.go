package node

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/quota"
)

// resourceAmounts are amounts by resource: thousandths of cores, bytes, or pieces.
type resourceAmounts map[corev1.ResourceName]int64

// allocatedTo returns the requests of a pod; for running containers, the resources allocated to them.
func allocatedTo(pod *corev1.Pod) resourceAmounts {
	if allotted := withAllocated(pod); requestsNothing(allotted) {
		return nil
	} else {
		return amounts(quota.Sum{Overhead: true}.Requests(allotted))
	}
}

func amounts(list corev1.ResourceList) resourceAmounts {
	l := resourceAmounts{}
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
	if !wantsResize(pod, s) {
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

// insufficientResource is a resource of which a node has too little for a pod.
type insufficientResource struct {
	name                      corev1.ResourceName
	requested, used, capacity int64
}

func (s insufficientResource) String() string {
	return fmt.Sprintf("Node didn't have enough resource: %s, requested: %d, used: %d, capacity: %d", s.name, s.requested, s.used, s.capacity)
}

// insufficient returns the resources that are missing for a pod beside the admitted pods. Extended resources that
// the node does not have are not counted, as in a kubelet. k.mu is held; so below.
func (k *kubelet) insufficient(uid types.UID, wants resourceAmounts, allocatable corev1.ResourceList) (all []insufficientResource) {
	used, pods := resourceAmounts{}, int64(0)
	k.eachAdmitted(uid, func(p *pod) {
		pods++
		for name, n := range p.allocated() {
			used[name] += n
		}
	})
	if most := allocatable.Pods().Value(); pods+1 > most {
		all = append(all, insufficientResource{corev1.ResourcePods, 1, pods, most})
	}
	has := amounts(allocatable)
	for _, name := range slices.SortedFunc(maps.Keys(wants), compareResources) {
		if n, known := wants[name], has[name]; n > 0 && n > known-used[name] && (known > 0 || !strings.Contains(string(name), "/")) {
			all = append(all, insufficientResource{name, n, used[name], known})
		}
	}
	return all
}

// compareResources orders resources as a kubelet reports them: those that every node has come first.
func compareResources(a, b corev1.ResourceName) int {
	order := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}
	rank := func(n corev1.ResourceName) int {
		if i := slices.Index(order, n); i >= 0 {
			return i
		}
		return len(order)
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
}

// eachAdmitted calls f with the node's admitted pods that have not ended, except one.
func (k *kubelet) eachAdmitted(but types.UID, f func(*pod)) {
	for uid, p := range k.mu.pods {
		if uid != but && (p.admitted || p.view().Status.StartTime != nil) && !isOver(p.latest) {
			f(p)
		}
	}
}

// allocated returns the resources allocated to the pod, computed once for each version of it.
func (p *pod) allocated() resourceAmounts {
	if v := p.view(); p.allocatedCache.of != v {
		p.allocatedCache.of, p.allocatedCache.is = v, allocatedTo(v)
	}
	return p.allocatedCache.is
}

// allocatable returns the allocatable resources of the node, as long as its Node object has not been changed.
func (k *kubelet) allocatable() corev1.ResourceList {
	t := k.options.Template
	if t == nil || len(t.Status.Allocatable) == 0 {
		return k.options.Capacity
	}
	list := maps.Clone(k.options.Capacity)
	maps.Copy(list, t.Status.Allocatable)
	return list
}
