package lives

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"fairlead.dev/internal/trace/why"
)

// usage is the sum of the requests of a node's pods.
type usage struct{ pods, cpu, memory int64 }

// use adds a pod to the usage of its node, until it has ended.
func (m *model) use(pod map[string]any) {
	spec, _ := pod["spec"].(map[string]any)
	status, _ := pod["status"].(map[string]any)
	node, _ := spec["nodeName"].(string)
	if node == "" || status["phase"] == "Succeeded" || status["phase"] == "Failed" {
		return
	}
	u := m.usage[node]
	if u == nil {
		u = &usage{}
		m.usage[node] = u
	}
	u.pods++
	containers, _ := spec["containers"].([]any)
	for _, c := range containers {
		container, _ := c.(map[string]any)
		resources, _ := container["resources"].(map[string]any)
		requests, _ := resources["requests"].(map[string]any)
		u.cpu += quantity(requests["cpu"]).MilliValue()
		u.memory += quantity(requests["memory"]).Value()
	}
}

// nodes returns the nodes with the usage of each.
func (m *model) nodes() (all []why.NodeFill) {
	kind := m.kinds["nodes"]
	if kind == nil {
		return nil
	}
	for _, n := range kind.all {
		status, _ := n.Object["status"].(map[string]any)
		allocatable, _ := status["allocatable"].(map[string]any)
		fill := why.NodeFill{
			Name: n.Name, Ready: !n.Waits(),
			MaxPods: quantity(allocatable["pods"]).Value(), MaxCPU: quantity(allocatable["cpu"]).MilliValue(), MaxMemory: quantity(allocatable["memory"]).Value(),
		}
		if u := m.usage[n.Name]; u != nil {
			fill.Pods, fill.CPU, fill.Memory = u.pods, u.cpu, u.memory
		}
		all = append(all, fill)
	}
	return all
}

// quantity parses a quantity of an object, which is 0 if it is absent.
func quantity(v any) *resource.Quantity {
	text, _ := v.(string)
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return &resource.Quantity{}
	}
	return &q
}
