package why

import (
	"cmp"
	"slices"
)

// Survey is everything in a cluster that is not in its desired state, by root causes.
type Survey struct {
	// Problems do not pass without help; those that affect the most objects come first.
	Problems []Problem `json:"problems"`
	// Progress is expected to pass, as the start of a container.
	Progress []Problem `json:"progress,omitempty"`
	// Rollouts are the workloads and Jobs without all their pods, the largest first.
	Rollouts []Rollout `json:"rollouts,omitempty"`
	// Nodes are the nodes, the fullest first.
	Nodes []NodeFill `json:"nodes,omitempty"`
	// Objects is how many objects were looked at.
	Objects int `json:"objects"`
	// Forbidden are resources that the user may not list.
	Forbidden []string `json:"forbidden,omitempty"`
}

// Problem is a root cause, and the objects that wait because of it.
type Problem struct {
	Cause
	Affects []Affected `json:"affects,omitempty"`
}

// Affected is an object that waits because of another one.
type Affected struct {
	Kind      string `json:"kind"`
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// Rollout is a workload that waits for pods.
type Rollout struct {
	Affected
	// Done of Want pods are ready, or have succeeded.
	Done int64 `json:"done"`
	Want int64 `json:"want"`
}

// NodeFill is a node with the requests of its pods' containers, and what it can allocate: CPU in thousandths of a core, memory
// in bytes.
type NodeFill struct {
	Name      string `json:"name"`
	Ready     bool   `json:"ready"`
	Pods      int64  `json:"pods"`
	MaxPods   int64  `json:"maxPods"`
	CPU       int64  `json:"cpu"`
	MaxCPU    int64  `json:"maxCPU"`
	Memory    int64  `json:"memory"`
	MaxMemory int64  `json:"maxMemory"`
}

// fill is the fraction of the scarcest resource that is taken.
func (n NodeFill) fill() (most float64) {
	for _, r := range [][2]int64{{n.Pods, n.MaxPods}, {n.CPU, n.MaxCPU}, {n.Memory, n.MaxMemory}} {
		if r[1] > 0 {
			most = max(most, float64(r[0])/float64(r[1]))
		}
	}
	return most
}

// Add adds an object that no controller owns, with the causes for which it waits.
func (s *Survey) Add(a Explanation) {
	about := Affected{a.Kind, a.Resource, a.Namespace, a.Name}
	if a.Waits && a.Done < a.Want {
		s.Rollouts = append(s.Rollouts, Rollout{about, a.Done, a.Want})
	}
	for _, c := range a.Causes {
		list := &s.Problems
		if c.Progress {
			list = &s.Progress
		}
		i := slices.IndexFunc(*list, func(p Problem) bool { return p.same(c) })
		if i < 0 {
			i = len(*list)
			*list = append(*list, Problem{Cause: Cause{Kind: c.Kind, Resource: c.Resource, Text: c.Text, Next: c.Next, Progress: c.Progress}})
		}
		p := &(*list)[i]
		p.Objects = merge([]Cause{p.Cause}, c)[0].Objects
		if a.Kind != c.Kind || !slices.Contains(c.Objects, (&Subject{Namespace: a.Namespace}).path(a.Name)) {
			p.Affects = append(p.Affects, about)
		}
	}
}

// Sort sorts the problems, the rollouts and the nodes.
func (s *Survey) Sort() {
	slices.SortStableFunc(s.Rollouts, func(a, b Rollout) int { return cmp.Compare(b.Want, a.Want) })
	slices.SortFunc(s.Nodes, func(a, b NodeFill) int {
		return cmp.Or(cmp.Compare(b.fill(), a.fill()), cmp.Compare(a.Name, b.Name))
	})
	for _, list := range [][]Problem{s.Problems, s.Progress} {
		slices.SortStableFunc(list, func(a, b Problem) int {
			return cmp.Or(cmp.Compare(len(b.Objects)+len(b.Affects), len(a.Objects)+len(a.Affects)), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Text, b.Text))
		})
	}
}
