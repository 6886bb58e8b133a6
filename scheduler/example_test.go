package scheduler_test

import (
	"fairlead.dev/controller"
	"fairlead.dev/scheduler"
)

// oneRack keeps the pods of a team, by the label of that name, to the racks of the team.
type oneRack struct{}

func (oneRack) Name() string { return "OneRack" }

// Prepare looks at the pod once; the check that it returns looks at each node.
func (oneRack) Prepare(_ *scheduler.Cluster, p *scheduler.PodInfo) (scheduler.Check, scheduler.Verdict) {
	team := p.Pod.Labels["team"]
	if team == "" {
		return nil, scheduler.Verdict{} // nothing to say
	}
	elsewhere := scheduler.Never("node(s) were another team's")
	return func(n *scheduler.NodeInfo) scheduler.Verdict {
		if n.Node.Labels["example.com/team"] != team {
			return elsewhere
		}
		return scheduler.Verdict{}
	}, scheduler.Verdict{}
}

// Events and Helps say when a pod that it held back is worth another try.
func (oneRack) Events() scheduler.EventKind { return scheduler.NodeAdded | scheduler.NodeChanged }
func (oneRack) Helps(p *scheduler.PodInfo, e *scheduler.Event) bool {
	return e.Node.Node.Labels["example.com/team"] == p.Pod.Labels["team"]
}

// fewPods favours nodes with few pods.
type fewPods struct{}

func (fewPods) Name() string { return "FewPods" }
func (fewPods) Prepare(*scheduler.Cluster, *scheduler.PodInfo, []*scheduler.NodeInfo) scheduler.Rate {
	return scheduler.Fewer(func(n *scheduler.NodeInfo) int64 { return int64(n.Pods()) })
}

// A second profile beside the default one, with a filter and a score of one's own.
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
