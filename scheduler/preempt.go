package scheduler

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// eviction is where a pod could go if some pods of lower priority went.
type eviction struct {
	node       *NodeInfo
	victims    []*PodInfo // most important first
	violations int        // of disruption budgets
}

// makeRoom looks for the node where p fits at the least harm to others, among the
// candidates of e. It tries on the cluster itself, taking pods off a node and putting them
// back. If there is none, e.Preemption says why; it is empty for a pod that no node was
// asked about.
func (pl *placer) makeRoom(c *Cluster, p *PodInfo, e *FitError) *eviction {
	if !e.Pod.Fits() {
		return nil
	}
	if why := c.mayPreempt(p, e); why != "" {
		e.Preemption = "preemption: " + why
		return nil
	}
	_, back := c.aside(p)
	defer back()
	why := &FitError{Nodes: e.Nodes, Reasons: map[string]int{}}
	if hopeless := e.Nodes - len(e.Candidates); hopeless > 0 {
		why.Reasons["Preemption is not helpful for scheduling"] = hopeless
	}
	enough := max(c.Len()*pl.CandidatesPercent/100, pl.CandidatesLeast, 1)
	var best *eviction
	first := 0
	if len(e.Candidates) > 0 {
		first = rand.IntN(len(e.Candidates))
	}
	for i := range e.Candidates {
		n := e.Candidates[(first+i)%len(e.Candidates)]
		v, reasons := pl.tryNode(c, p, n)
		for _, reason := range reasons {
			why.Reasons[reason]++
		}
		if v == nil {
			continue
		}
		if best == nil || v.less(best) {
			best = v
		}
		if enough--; enough == 0 {
			break
		}
	}
	if best == nil {
		e.Preemption = "preemption: " + why.Error()
	}
	return best
}

// mayPreempt says why p, which fits nowhere for e, may not make others leave; "" if it may. It waits for those
// that leave the node to which it is nominated, unless it cannot go there at all any more.
func (c *Cluster) mayPreempt(p *PodInfo, e *FitError) string {
	if policy := p.Pod.Spec.PreemptionPolicy; policy != nil && *policy == corev1.PreemptNever {
		return "not eligible due to preemptionPolicy=Never."
	}
	if g := c.nominated[p.Pod.UID]; g != nil && slices.Contains(e.Candidates, g.node) {
		for _, victim := range g.node.pods {
			if victim.Priority < p.Priority && victim.terminating && preempted(victim.Pod) {
				return "not eligible due to a terminating pod on the nominated node."
			}
		}
	}
	return ""
}

func preempted(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue && c.Reason == corev1.PodReasonPreemptionByScheduler
	})
}

// tryNode finds the fewest pods of n that must go for p to fit: all of lower priority
// go, then one after the other comes back, the most important first, if p still fits.
// Those that a disruption budget protects come first.
func (pl *placer) tryNode(c *Cluster, p *PodInfo, n *NodeInfo) (*eviction, []string) {
	var lower []*PodInfo
	if c.anyBelow(p.Priority) {
		for _, other := range n.pods {
			if other.Priority < p.Priority && !other.ghost {
				lower = append(lower, other)
			}
		}
	}
	if lower == nil {
		return nil, []string{"No preemption victims found for incoming pod"}
	}
	slices.SortFunc(lower, byImportance)
	for _, other := range lower {
		c.RemovePod(other.Pod.UID)
	}
	reasons := pl.against(c, p, n)
	if reasons != nil {
		for _, other := range lower {
			c.AddPod(other, n.name)
		}
		return nil, reasons
	}
	e := &eviction{node: n}
	guarded, free := c.byBudget(lower)
	for i, group := range [][]*PodInfo{guarded, free} {
		for _, other := range group {
			c.AddPod(other, n.name)
			if pl.against(c, p, n) == nil {
				continue
			}
			c.RemovePod(other.Pod.UID)
			e.victims = append(e.victims, other)
			if i == 0 {
				e.violations++
			}
		}
	}
	for _, victim := range e.victims {
		c.AddPod(victim, n.name)
	}
	slices.SortFunc(e.victims, byImportance)
	return e, nil
}

// against returns what speaks against p on n as the cluster is now.
func (pl *placer) against(c *Cluster, p *PodInfo, n *NodeInfo) []string {
	for _, f := range pl.Filters {
		check, v := f.Prepare(c, p)
		if v.Fits() && check != nil {
			v = check(n)
		}
		if !v.Fits() {
			return v.Reasons
		}
	}
	return nil
}

// byImportance puts pods of higher priority first, then those that run longer.
func byImportance(a, b *PodInfo) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), started(a).Compare(started(b)), cmp.Compare(a.Pod.UID, b.Pod.UID))
}

// started is in the far future for a pod that has not: it counts as the youngest.
func started(p *PodInfo) time.Time {
	if p.start != nil {
		return p.start.Time
	}
	return time.Unix(1<<40, 0)
}

// less says whether a does less harm than b: fewer budgets broken, then less important
// victims, then fewer, then younger ones.
func (a *eviction) less(b *eviction) bool {
	oldest := func(e *eviction) (t time.Time) {
		for _, v := range e.victims {
			if v.Priority == e.victims[0].Priority && (t.IsZero() || started(v).Before(t)) {
				t = started(v)
			}
		}
		return t
	}
	sum := func(e *eviction) (k int64) {
		for _, v := range e.victims {
			k += int64(v.Priority) + math.MaxInt32 + 1 // so that fewer is less
		}
		return k
	}
	if len(a.victims) == 0 || len(b.victims) == 0 {
		return len(a.victims) < len(b.victims)
	}
	return cmp.Or(
		cmp.Compare(a.violations, b.violations),
		cmp.Compare(a.victims[0].Priority, b.victims[0].Priority),
		cmp.Compare(sum(a), sum(b)),
		cmp.Compare(len(a.victims), len(b.victims)),
		oldest(b).Compare(oldest(a)),
	) < 0
}
