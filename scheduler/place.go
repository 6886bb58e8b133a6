package scheduler

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// placer runs the filters and scores of a profile. It keeps buffers from pod to pod.
type placer struct {
	Profile
	next   int // where among the nodes, counted on and on, the search continues
	fit    []*NodeInfo
	points []int64
	total  []int64
}

// place chooses a node for p: the best of those that fit. The error is a *FitError
// when there is none.
func (pl *placer) place(c *Cluster, p *PodInfo) (*NodeInfo, error) {
	c.clock++
	if c.Len() == 0 {
		return nil, &FitError{}
	}
	nominated, back := c.aside(p)
	defer back()
	checks, rejected := pl.prepare(c, p)
	if rejected != nil {
		return nil, rejected
	}
	if nominated != nil && nominated.Node != nil && allow(checks, nominated) {
		return nominated, nil
	}
	among, by := pl.narrow(c, p)
	if !pl.search(among, checks) {
		return nil, pl.explain(c, checks, among, by)
	}
	if len(pl.fit) == 1 {
		return pl.fit[0], nil
	}
	return pl.best(c, p), nil
}

// prepared is a filter's check on the pod at hand.
type prepared struct {
	filter Filter
	check  Check
}

func (pl *placer) prepare(c *Cluster, p *PodInfo) ([]prepared, *FitError) {
	checks := make([]prepared, 0, len(pl.Filters))
	for _, f := range pl.Filters {
		check, v := f.Prepare(c, p)
		if !v.Fits() {
			return nil, &FitError{Nodes: c.Len(), Pod: v, By: []Filter{f}}
		}
		if check != nil {
			checks = append(checks, prepared{f, check})
		}
	}
	return checks, nil
}

// narrow returns the nodes to look at, and which filters made them fewer than all.
func (pl *placer) narrow(c *Cluster, p *PodInfo) (among []*NodeInfo, by []Filter) {
	among = c.order
	for _, f := range pl.Filters {
		narrower, ok := f.(Narrower)
		if !ok {
			continue
		}
		names, narrowed := narrower.Narrow(p)
		if !narrowed {
			continue
		}
		before := among
		among = nil
		for _, name := range names {
			if n := c.Node(name); n != nil && (by == nil || slices.Contains(before, n)) {
				among = append(among, n)
			}
		}
		by = append(by, f)
	}
	return among, by
}

// search collects nodes that fit in pl.fit, beginning where the last search ended, until
// it has enough to choose from. In a small cluster that is all of them.
func (pl *placer) search(nodes []*NodeInfo, checks []prepared) bool {
	pl.fit = pl.fit[:0]
	if len(nodes) == 0 {
		return false
	}
	want, seen := pl.enough(len(nodes)), 0
	for ; seen < len(nodes) && len(pl.fit) < want; seen++ {
		n := nodes[(pl.next+seen)%len(nodes)]
		if allow(checks, n) {
			pl.fit = append(pl.fit, n)
		}
	}
	pl.next += seen
	return len(pl.fit) > 0
}

func allow(checks []prepared, n *NodeInfo) bool {
	for i := range checks {
		if !checks[i].check(n).Fits() {
			return false
		}
	}
	return true
}

// best adds up the weighted scores of pl.fit. Of equals, one is taken by lot.
func (pl *placer) best(c *Cluster, p *PodInfo) *NodeInfo {
	pl.points = slices.Grow(pl.points[:0], len(pl.fit))[:len(pl.fit)]
	pl.total = slices.Grow(pl.total[:0], len(pl.fit))[:len(pl.fit)]
	clear(pl.total)
	for _, s := range pl.Scores {
		r := s.Prepare(c, p, pl.fit)
		if r == nil {
			continue
		}
		for i, n := range pl.fit {
			pl.points[i] = r.Of(n)
		}
		r.Normalize(pl.points)
		for i, v := range pl.points {
			pl.total[i] += s.Weight * v
		}
	}
	top, equals := 0, 1
	for i := 1; i < len(pl.total); i++ {
		switch {
		case pl.total[i] > pl.total[top]:
			top, equals = i, 1
		case pl.total[i] == pl.total[top]:
			if equals++; rand.IntN(equals) == 0 {
				top = i
			}
		}
	}
	return pl.fit[top]
}

// explain asks the filters again, for the reasons of each node among those that by left.
func (pl *placer) explain(c *Cluster, checks []prepared, among []*NodeInfo, by []Filter) *FitError {
	e := &FitError{Nodes: c.Len(), Reasons: map[string]int{}, By: by}
	if rest := c.Len() - len(among); rest > 0 {
		names := make([]string, len(by))
		for i, f := range by {
			names[i] = f.Name()
		}
		slices.Sort(names)
		e.Reasons[fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", names)] = rest
	}
	for _, n := range among {
		for i := range checks {
			v := checks[i].check(n)
			if v.Fits() {
				continue
			}
			for _, reason := range v.Reasons {
				e.Reasons[reason]++
			}
			if !v.Final {
				e.Candidates = append(e.Candidates, n)
			}
			if !slices.Contains(e.By, checks[i].filter) {
				e.By = append(e.By, checks[i].filter)
			}
			break
		}
	}
	return e
}
