package plugins

import (
	"slices"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

// nodePorts rejects nodes on which the pod's host ports are used.
type nodePorts struct{}

func (nodePorts) Name() string { return "NodePorts" }

func (nodePorts) PreFilter(_ *cache.Cluster, p *cache.PodInfo) (framework.FilterFunc, framework.Status) {
	if len(p.HostPorts) == 0 {
		return nil, success
	}
	rejected := framework.Unschedulable("node(s) didn't have free ports for the requested pod ports")
	return func(n *cache.NodeInfo) framework.Status {
		for taken := range n.HostPorts {
			if slices.ContainsFunc(p.HostPorts, taken.Conflicts) {
				return rejected
			}
		}
		return success
	}, success
}

func (nodePorts) EventsToRegister() framework.EventKind {
	return framework.NodeAdded | framework.PodRemoved
}

func (nodePorts) QueueingHint(p *cache.PodInfo, e *framework.ClusterEvent) bool {
	return e.Kind == framework.NodeAdded || slices.ContainsFunc(e.Pod.HostPorts, func(freed cache.HostPort) bool {
		return slices.ContainsFunc(p.HostPorts, freed.Conflicts)
	})
}
