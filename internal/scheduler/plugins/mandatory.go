package plugins

import (
	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

// success is the Status of a node that passes.
var success framework.Status

// parseErrors rejects pods with malformed rules.
type parseErrors struct{}

func (parseErrors) Name() string { return "Readable" }

func (parseErrors) PreFilter(_ *cache.Cluster, p *cache.PodInfo) (framework.FilterFunc, framework.Status) {
	if p.ParseError != nil {
		return nil, framework.Unresolvable(p.ParseError.Error())
	}
	return nil, success
}

func (parseErrors) EventsToRegister() framework.EventKind { return 0 }

func (parseErrors) QueueingHint(*cache.PodInfo, *framework.ClusterEvent) bool { return false }

// Unsupported is the name of the filter that rejects the pods of pod groups, for a server that does not serve the version
// that the scheduler reads.
const Unsupported = "Unsupported"

// unsupported rejects pods with requirements that this scheduler cannot fulfil.
type unsupported struct{}

func (unsupported) Name() string { return Unsupported }

func (unsupported) PreFilter(_ *cache.Cluster, p *cache.PodInfo) (framework.FilterFunc, framework.Status) {
	if p.Pod.Spec.SchedulingGroup != nil {
		return nil, framework.Unresolvable("pod belongs to a scheduling group, which this scheduler does not place")
	}
	return nil, success
}

func (unsupported) EventsToRegister() framework.EventKind { return 0 }

func (unsupported) QueueingHint(*cache.PodInfo, *framework.ClusterEvent) bool { return false }
