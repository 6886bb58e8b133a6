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

// Add adds an object that no controller owns, with the causes for which it waits.
func (s *Survey) Add(a Explanation) {
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
		about := Subject{Namespace: a.Namespace}
		if a.Kind != c.Kind || !slices.Contains(c.Objects, about.path(a.Name)) {
			p.Affects = append(p.Affects, Affected{a.Kind, a.Resource, a.Namespace, a.Name})
		}
	}
}

// Sort sorts the problems: those that affect the most objects first.
func (s *Survey) Sort() {
	for _, list := range [][]Problem{s.Problems, s.Progress} {
		slices.SortStableFunc(list, func(a, b Problem) int {
			return cmp.Or(cmp.Compare(len(b.Objects)+len(b.Affects), len(a.Objects)+len(a.Affects)), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Text, b.Text))
		})
	}
}
