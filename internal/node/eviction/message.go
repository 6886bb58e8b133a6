package eviction

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Reason is that of an evicted pod and of its event.
const Reason = "Evicted"

func conditionMessage(under []corev1.NodeConditionType) string {
	return fmt.Sprintf("The node had condition: %v. ", under)
}

// Message returns the message of a pod that ends for the first of the thresholds on which a node acts.
func Message(p *Pod, act []Threshold, seen Observations) string {
	name := act[0].Signal.Resource()
	var b strings.Builder
	fmt.Fprintf(&b, "The node was low on resource: %v. ", name)
	for _, t := range act {
		if o, ok := seen[t.Signal]; ok && t.Signal.Resource() == name {
			fmt.Fprintf(&b, "Threshold quantity: %v, available: %v. ", t.Value.Of(o.Capacity), quantity(name, o.Available))
			break
		}
	}
	if whole := p.Spec.Resources; whole != nil && name == corev1.ResourceMemory {
		if request, ok := whole.Requests[name]; ok {
			fmt.Fprintf(&b, "Pod %s was using %s, request is %s, has larger consumption of %v. ", p.Name, quantity(name, p.Uses().Memory), request.String(), name)
		}
	}
	if name == pids {
		return b.String()
	}
	for _, c := range p.Containers {
		request := requestOf(p.Pod, c.Name, name)
		if uses := quantity(name, c.of(name)); uses.Cmp(request) > 0 {
			fmt.Fprintf(&b, "Container %s was using %s, request is %s, has larger consumption of %v. ", c.Name, uses, request.String(), name)
		}
	}
	return b.String()
}

func quantity(name corev1.ResourceName, n int64) *resource.Quantity {
	if name == pids {
		return resource.NewQuantity(n, resource.DecimalSI)
	}
	return resource.NewQuantity(n, resource.BinarySI)
}

func requestOf(pod *corev1.Pod, container string, name corev1.ResourceName) resource.Quantity {
	for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range list {
			if list[i].Name == container {
				return list[i].Resources.Requests[name]
			}
		}
	}
	return resource.Quantity{}
}
