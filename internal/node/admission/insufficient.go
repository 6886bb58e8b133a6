package admission

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// insufficientResource is a resource of which a node has too little for a pod.
type insufficientResource struct {
	name                      corev1.ResourceName
	requested, used, capacity int64
}

func (s insufficientResource) String() string {
	return fmt.Sprintf("Node didn't have enough resource: %s, requested: %d, used: %d, capacity: %d", s.name, s.requested, s.used, s.capacity)
}

// insufficient returns the resources that are missing for the pod beside the residents. Extended resources that
// the node does not have are not counted, as in a kubelet.
func (r *Request) insufficient(wants Amounts) (all []insufficientResource) {
	used, pods := map[corev1.ResourceName]int64{}, int64(0)
	for p := range r.Residents {
		pods++
		for _, a := range p.Allocation.Of(p.Pod) {
			used[a.Resource] += a.N
		}
	}
	if limit := r.Node.Status.Allocatable.Pods().Value(); pods+1 > limit {
		all = append(all, insufficientResource{corev1.ResourcePods, 1, pods, limit})
	}
	has := amounts(r.Node.Status.Allocatable)
	for _, want := range slices.SortedFunc(slices.Values(wants), func(a, b Amount) int { return compareResources(a.Resource, b.Resource) }) {
		name, n := want.Resource, want.N
		if known := has.Of(name); n > 0 && n > known-used[name] && (known > 0 || !strings.Contains(string(name), "/")) {
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
