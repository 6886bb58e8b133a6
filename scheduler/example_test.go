package scheduler_test

import (
	"fairlead.dev/controller"
	"fairlead.dev/scheduler"
)

// oneRack keeps the pods of a team, named by their label, on the racks of the team.
type oneRack struct{}

func (oneRack) Name() string { return "OneRack" }

// PreFilter looks at the pod once; the FilterFunc that it returns checks each node.
func (oneRack) PreFilter(_ *scheduler.Cluster, p *scheduler.PodInfo) (scheduler.FilterFunc, scheduler.Status) {
	team := p.Pod.Labels["team"]
	if team == "" {
		return nil, scheduler.Status{} // any rack will do
	}
	elsewhere := scheduler.Unresolvable("node(s) were another team's")
	return func(n *scheduler.NodeInfo) scheduler.Status {
		if n.Node.Labels["example.com/team"] != team {
			return elsewhere
		}
		return scheduler.Status{}
	}, scheduler.Status{}
}

// EventsToRegister and QueueingHint select the changes that are worth another attempt for a pod
// that this filter rejected.
func (oneRack) EventsToRegister() scheduler.EventKind {
	return scheduler.NodeAdded | scheduler.NodeChanged
}
func (oneRack) QueueingHint(p *scheduler.PodInfo, e *scheduler.ClusterEvent) bool {
	return e.Node.Node.Labels["example.com/team"] == p.Pod.Labels["team"]
}

// fewPods favours nodes with few pods.
type fewPods struct{}

func (fewPods) Name() string { return "FewPods" }
func (fewPods) PreScore(*scheduler.Cluster, *scheduler.PodInfo, []*scheduler.NodeInfo) scheduler.NodeScorer {
	return scheduler.ReversedScore(func(n *scheduler.NodeInfo) int64 { return int64(n.NumPods()) })
}

// A second profile beside the default one adds a filter and a score.
func Example() {
	start := func(env controller.Env) *scheduler.Scheduler {
		racks := scheduler.DefaultProfile()
		racks.Name = "racks"
		racks.Filters = append(racks.Filters, oneRack{})
		racks.Scores = append(racks.Scores, scheduler.WeightedScore{Score: fewPods{}, Weight: 5})
		return scheduler.New(env, scheduler.Options{
			Profiles: []scheduler.Profile{scheduler.DefaultProfile(), racks},
		})
	}
	_ = start
}
