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

// load is what a pod has been given of its node's resources: thousandths of cores, bytes, or pieces.
type load map[corev1.ResourceName]int64

// loadOf is what a pod asks for or, of containers that run, what they have been allotted.
func loadOf(pod *corev1.Pod) load {
	if allotted := withAllotted(pod); asksForNothing(allotted) {
		return nil
	} else {
		return amounts(quota.Sum{Overhead: true}.Requests(allotted))
	}
}

func amounts(list corev1.ResourceList) load {
	l := load{}
	for name, q := range list {
		if l[name] = q.Value(); name == corev1.ResourceCPU {
			l[name] = q.MilliValue()
		}
	}
	return l
}

func asksForNothing(pod *corev1.Pod) bool {
	asks := func(cs []corev1.Container) bool {
		return slices.ContainsFunc(cs, func(c corev1.Container) bool { return len(c.Resources.Requests) > 0 })
	}
	return !asks(pod.Spec.Containers) && !asks(pod.Spec.InitContainers) && pod.Spec.Resources == nil && len(pod.Spec.Overhead) == 0
}

// withAllotted is a pod whose containers ask for what they have been allotted, which differs while
// a resize has not been granted.
func withAllotted(pod *corev1.Pod) *corev1.Pod {
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

// shortage is a resource of which there is too little.
type shortage struct {
	name                      corev1.ResourceName
	requested, used, capacity int64
}

func (s shortage) String() string {
	return fmt.Sprintf("Node didn't have enough resource: %s, requested: %d, used: %d, capacity: %d", s.name, s.requested, s.used, s.capacity)
}

// shortages are what is missing for a pod beside the others that the node has taken. The lock is
// held; so below. Resources that the node does not know are others' to count.
func (k *kubelet) shortages(uid types.UID, wants load, allocatable corev1.ResourceList) (all []shortage) {
	used, pods := load{}, int64(0)
	k.eachTaken(uid, func(p *pod) {
		pods++
		for name, n := range p.loads() {
			used[name] += n
		}
	})
	if most := allocatable.Pods().Value(); pods+1 > most {
		all = append(all, shortage{corev1.ResourcePods, 1, pods, most})
	}
	has := amounts(allocatable)
	for _, name := range slices.SortedFunc(maps.Keys(wants), inOrder) {
		if n, known := wants[name], has[name]; n > 0 && n > known-used[name] && (known > 0 || !strings.Contains(string(name), "/")) {
			all = append(all, shortage{name, n, used[name], known})
		}
	}
	return all
}

// inOrder has the resources that every node has first, as a kubelet names them.
func inOrder(a, b corev1.ResourceName) int {
	order := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}
	rank := func(n corev1.ResourceName) int {
		if i := slices.Index(order, n); i >= 0 {
			return i
		}
		return len(order)
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
}

// eachTaken calls f with the pods that the node has taken and of which nobody knows yet that they have
// ended, but one.
func (k *kubelet) eachTaken(but types.UID, f func(*pod)) {
	for uid, p := range k.mu.pods {
		if uid != but && (p.taken || p.view().Status.StartTime != nil) && !isOver(p.latest) {
			f(p)
		}
	}
}

// loads is the load of the pod as its node knows it, made once for each version of it.
func (p *pod) loads() load {
	if v := p.view(); p.load.of != v {
		p.load.of, p.load.is = v, loadOf(v)
	}
	return p.load.is
}

// allocatable is what the node has for pods, if nobody has changed it.
func (k *kubelet) allocatable() corev1.ResourceList {
	t := k.options.Template
	if t == nil || len(t.Status.Allocatable) == 0 {
		return k.options.Capacity
	}
	list := maps.Clone(k.options.Capacity)
	maps.Copy(list, t.Status.Allocatable)
	return list
}
