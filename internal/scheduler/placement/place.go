package placement

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
	"fairlead.dev/internal/scheduler/metrics"
)

// A Placer runs the filters and scores of a profile. It reuses its buffers from pod to pod.
type Placer struct {
	framework.Profile
	Metrics *metrics.Profile // may be nil
	// Units returns what a pod on a node is evicted with; nil: pods are evicted one by one.
	Units func(*cache.PodInfo) Unit
	// Within are the only nodes that come into question; nil means all. They do not limit preemption.
	Within    []*cache.NodeInfo
	failure   error // the error that ended the search for feasible nodes
	nextStart int   // the index, modulo the number of nodes, at which the next search starts
	feasible  []*cache.NodeInfo
	scorers   []weightedScorer
	scores    []int64
	totals    []int64
}

// Place chooses the best feasible node for p. The error is a *FitError if no node is feasible.
func (pl *Placer) Place(c *cache.Cluster, p *cache.PodInfo) (*cache.NodeInfo, error) {
	c.Tick()
	nominated, back := c.SetAsideNominated(p)
	defer back()
	if err := pl.search(c, p, nominated); err != nil {
		return nil, err
	}
	if len(pl.feasible) == 1 {
		return pl.feasible[0], nil
	}
	n := pl.selectNode(c, p)
	if pl.Extension != nil {
		if err := pl.Extension.ScoreError(); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// Choices returns the nodes among which Place chose. They are valid until the next call of a method.
func (pl *Placer) Choices() []*cache.NodeInfo { return pl.feasible }

// Feasible returns the nodes among which Place would choose. They are valid until the next call of a method.
func (pl *Placer) Feasible(c *cache.Cluster, p *cache.PodInfo) ([]*cache.NodeInfo, error) {
	c.Tick()
	nominated, back := c.SetAsideNominated(p)
	defer back()
	err := pl.search(c, p, nominated)
	return pl.feasible, err
}

// search fills pl.feasible with one node or more, or returns an error. A feasible nominated node is the only one.
func (pl *Placer) search(c *cache.Cluster, p *cache.PodInfo, nominated *cache.NodeInfo) error {
	if len(pl.candidates(c)) == 0 {
		return &framework.FitError{}
	}
	start := time.Now()
	pl.failure = nil
	if pl.Extension != nil {
		pl.Extension.Begin(c, p)
	}
	checks, rejected := pl.preFilter(c, p)
	start = pl.Metrics.Ran(metrics.PreFilter, pl.statusOf(rejected), start)
	if pl.failure != nil {
		return pl.failure
	}
	if rejected != nil {
		return rejected
	}
	if nominated != nil && nominated.Node != nil && (pl.Within == nil || slices.Contains(pl.Within, nominated)) && pl.allow(checks, nominated) {
		pl.Metrics.Ran(metrics.Filter, metrics.Success, start)
		pl.feasible = append(pl.feasible[:0], nominated)
		return nil
	}
	among, by := pl.nodesToCheck(c, p)
	found := pl.findFeasible(among, checks)
	if pl.failure != nil {
		pl.Metrics.Ran(metrics.Filter, metrics.Failed, start)
		return pl.failure
	}
	pl.Metrics.Ran(metrics.Filter, metrics.Success, start) // also when it rejects all nodes, as in kube-scheduler
	if !found {
		return pl.diagnose(c, checks, among, by)
	}
	return nil
}

// statusOf returns the result of the PreFilter plugins.
func (pl *Placer) statusOf(rejected *framework.FitError) metrics.Status {
	switch {
	case pl.failure != nil:
		return metrics.Failed
	case rejected == nil:
		return metrics.Success
	case rejected.PreFilter.Unresolvable:
		return metrics.RejectedForGood
	}
	return metrics.Rejected
}

// preparedFilter is a filter's check for the current pod.
type preparedFilter struct {
	filter framework.Filter
	run    framework.FilterFunc
}

func (pl *Placer) preFilter(c *cache.Cluster, p *cache.PodInfo) ([]preparedFilter, *framework.FitError) {
	checks := make([]preparedFilter, 0, len(pl.Filters))
	for _, f := range pl.Filters {
		check, v := f.PreFilter(c, p)
		if v.Failed {
			pl.failure = fmt.Errorf("running PreFilter plugin %q: %s", f.Name(), v.Reasons[0])
		}
		if !v.IsSuccess() {
			return nil, &framework.FitError{Nodes: len(pl.candidates(c)), PreFilter: v, RejectedBy: []framework.Filter{f}}
		}
		if check != nil {
			checks = append(checks, preparedFilter{f, check})
		}
	}
	return checks, nil
}

// candidates returns the nodes that come into question.
func (pl *Placer) candidates(c *cache.Cluster) []*cache.NodeInfo {
	if pl.Within != nil {
		return pl.Within
	}
	return c.NodeInfos
}

// nodesToCheck returns the candidates to check, and the filters that excluded the others.
func (pl *Placer) nodesToCheck(c *cache.Cluster, p *cache.PodInfo) (among []*cache.NodeInfo, by []framework.Filter) {
	among = pl.candidates(c)
	for _, f := range pl.Filters {
		narrower, ok := f.(framework.NodeNameFilter)
		if !ok {
			continue
		}
		names, narrowed := narrower.NodeNames(p)
		if !narrowed {
			continue
		}
		before := among
		among = nil
		for _, name := range names {
			if n := c.Node(name); n != nil && (by == nil && pl.Within == nil || slices.Contains(before, n)) {
				among = append(among, n)
			}
		}
		by = append(by, f)
	}
	return among, by
}

// findFeasible collects feasible nodes, starting where the last search ended, until there are
// enough to choose from. In a small cluster these are all feasible nodes.
func (pl *Placer) findFeasible(nodes []*cache.NodeInfo, checks []preparedFilter) bool {
	pl.feasible = pl.feasible[:0]
	if len(nodes) == 0 {
		return false
	}
	want, seen := numFeasibleNodesToFind(&pl.Profile, len(nodes)), 0
	for ; seen < len(nodes) && len(pl.feasible) < want && pl.failure == nil; seen++ {
		n := nodes[(pl.nextStart+seen)%len(nodes)]
		if pl.allow(checks, n) {
			pl.feasible = append(pl.feasible, n)
		}
	}
	pl.nextStart += seen
	return len(pl.feasible) > 0
}

// allow reports whether n passes all checks. An error in one of them is stored in pl.failure.
func (pl *Placer) allow(checks []preparedFilter, n *cache.NodeInfo) bool {
	for i := range checks {
		if v := checks[i].run(n); !v.IsSuccess() {
			if v.Failed {
				pl.failure = fmt.Errorf("running %q filter plugin: %s", checks[i].filter.Name(), v.Reasons[0])
			}
			return false
		}
	}
	return true
}

// weightedScorer is a plugin's rating for the current pod, and the factor by which it counts.
type weightedScorer struct {
	framework.NodeScorer
	weight int64
}

// selectNode sums up the weighted scores of the feasible nodes. Among equals it chooses at random.
func (pl *Placer) selectNode(c *cache.Cluster, p *cache.PodInfo) *cache.NodeInfo {
	pl.scores = slices.Grow(pl.scores[:0], len(pl.feasible))[:len(pl.feasible)]
	pl.totals = slices.Grow(pl.totals[:0], len(pl.feasible))[:len(pl.feasible)]
	clear(pl.totals)
	pl.scorers = pl.scorers[:0]
	start := time.Now()
	for _, s := range pl.Scores {
		if r := s.PreScore(c, p, pl.feasible); r != nil {
			pl.scorers = append(pl.scorers, weightedScorer{r, s.Weight})
		}
	}
	start = pl.Metrics.Ran(metrics.PreScore, metrics.Success, start)
	for _, s := range pl.scorers {
		for i, n := range pl.feasible {
			pl.scores[i] = s.Score(n)
		}
		s.NormalizeScores(pl.scores)
		for i, v := range pl.scores {
			pl.totals[i] += s.weight * v
		}
	}
	clear(pl.scorers) // which refer to the pod
	pl.Metrics.Ran(metrics.Score, metrics.Success, start)
	top, equals := 0, 1
	for i := 1; i < len(pl.totals); i++ {
		switch {
		case pl.totals[i] > pl.totals[top]:
			top, equals = i, 1
		case pl.totals[i] == pl.totals[top]:
			if equals++; rand.IntN(equals) == 0 {
				top = i
			}
		}
	}
	return pl.feasible[top]
}

// diagnose runs the filters again for the reason of each node in among; by are the filters that
// excluded the other nodes.
func (pl *Placer) diagnose(c *cache.Cluster, checks []preparedFilter, among []*cache.NodeInfo, by []framework.Filter) *framework.FitError {
	total := len(pl.candidates(c))
	e := &framework.FitError{Nodes: total, Reasons: map[string]int{}, RejectedBy: by}
	if pl.Extension != nil {
		e.Statuses = map[*cache.NodeInfo]framework.Status{}
	}
	if rest := total - len(among); rest > 0 {
		names := make([]string, len(by))
		for i, f := range by {
			names[i] = f.Name()
		}
		slices.Sort(names)
		e.Reasons[fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", names)] = rest
	}
	for _, n := range among {
		for i := range checks {
			v := checks[i].run(n)
			if v.IsSuccess() {
				continue
			}
			for _, reason := range v.Reasons {
				e.Reasons[reason]++
			}
			if e.Statuses != nil {
				e.Statuses[n] = v
			}
			if !v.Unresolvable && !v.Failed {
				e.Resolvable = append(e.Resolvable, n)
			}
			if !slices.Contains(e.RejectedBy, checks[i].filter) {
				e.RejectedBy = append(e.RejectedBy, checks[i].filter)
			}
			break
		}
	}
	return e
}

// numFeasibleNodesToFind returns how many feasible nodes suffice for a choice.
func numFeasibleNodesToFind(p *framework.Profile, nodes int) int {
	if nodes < 100 || p.PercentageOfNodesToScore >= 100 {
		return nodes
	}
	percent := p.PercentageOfNodesToScore
	if percent == 0 {
		percent = max(50-nodes/125, 5)
	}
	return max(nodes*percent/100, 100)
}
