package placement

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

// Candidate is where a pod could go if some pods of lower priority went.
type Candidate struct {
	Node       *cache.NodeInfo
	Victims    []*cache.PodInfo // most important first
	violations int              // of disruption budgets
}

// Preempt looks for the node where p fits at the least harm to others, among the
// candidates of e. It tries on the cluster itself, taking pods off a node and putting them
// back. If there is none, e.Preemption says why; it is empty for a pod that no node was
// asked about.
func (pl *Placer) Preempt(c *cache.Cluster, p *cache.PodInfo, e *framework.FitError) *Candidate {
	if !e.PreFilter.IsSuccess() {
		return nil
	}
	if why := IneligibleToPreempt(c, p, e); why != "" {
		e.Preemption = "preemption: " + why
		return nil
	}
	_, back := c.SetAsideNominated(p)
	defer back()
	why := &framework.FitError{Nodes: e.Nodes, Reasons: map[string]int{}}
	if hopeless := e.Nodes - len(e.Resolvable); hopeless > 0 {
		why.Reasons["Preemption is not helpful for scheduling"] = hopeless
	}
	enough := max(c.Len()*pl.MinCandidateNodesPercentage/100, pl.MinCandidateNodesAbsolute, 1)
	var best *Candidate
	first := 0
	if len(e.Resolvable) > 0 {
		first = rand.IntN(len(e.Resolvable))
	}
	for i := range e.Resolvable {
		n := e.Resolvable[(first+i)%len(e.Resolvable)]
		v, reasons := pl.dryRunPreemption(c, p, n)
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

// IneligibleToPreempt says why p, which fits nowhere for e, may not make others leave; "" if it may. It waits for those
// that leave the node to which it is nominated, unless it cannot go there at all any more.
func IneligibleToPreempt(c *cache.Cluster, p *cache.PodInfo, e *framework.FitError) string {
	if policy := p.Pod.Spec.PreemptionPolicy; policy != nil && *policy == corev1.PreemptNever {
		return "not eligible due to preemptionPolicy=Never."
	}
	if n := c.NominatedNode(p.Pod.UID); n != nil && slices.Contains(e.Resolvable, n) {
		for _, victim := range n.Pods {
			if victim.Priority < p.Priority && victim.Terminating && isPreempted(victim.Pod) {
				return "not eligible due to a terminating pod on the nominated node."
			}
		}
	}
	return ""
}

func isPreempted(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue && c.Reason == corev1.PodReasonPreemptionByScheduler
	})
}

// dryRunPreemption finds the fewest pods of n that must go for p to fit: all of lower priority
// go, then one after the other comes back, the most important first, if p still fits.
// Those that a disruption budget protects come first.
func (pl *Placer) dryRunPreemption(c *cache.Cluster, p *cache.PodInfo, n *cache.NodeInfo) (*Candidate, []string) {
	var lower []*cache.PodInfo
	if c.HasPodsBelow(p.Priority) {
		for _, other := range n.Pods {
			if other.Priority < p.Priority && !other.Nominated {
				lower = append(lower, other)
			}
		}
	}
	if lower == nil {
		return nil, []string{"No preemption victims found for incoming pod"}
	}
	slices.SortFunc(lower, moreImportant)
	for _, other := range lower {
		c.RemovePod(other.Pod.UID)
	}
	reasons := pl.rejection(c, p, n)
	if reasons != nil {
		for _, other := range lower {
			c.AddPod(other, n.Name)
		}
		return nil, reasons
	}
	e := &Candidate{Node: n}
	guarded, free := splitByBudget(c, lower)
	for i, group := range [][]*cache.PodInfo{guarded, free} {
		for _, other := range group {
			c.AddPod(other, n.Name)
			if pl.rejection(c, p, n) == nil {
				continue
			}
			c.RemovePod(other.Pod.UID)
			e.Victims = append(e.Victims, other)
			if i == 0 {
				e.violations++
			}
		}
	}
	for _, victim := range e.Victims {
		c.AddPod(victim, n.Name)
	}
	slices.SortFunc(e.Victims, moreImportant)
	return e, nil
}

// rejection returns what speaks against p on n as the cluster is now.
func (pl *Placer) rejection(c *cache.Cluster, p *cache.PodInfo, n *cache.NodeInfo) []string {
	for _, f := range pl.Filters {
		check, v := f.PreFilter(c, p)
		if v.IsSuccess() && check != nil {
			v = check(n)
		}
		if !v.IsSuccess() {
			return v.Reasons
		}
	}
	return nil
}

// moreImportant puts pods of higher priority first, then those that run longer.
func moreImportant(a, b *cache.PodInfo) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), started(a).Compare(started(b)), cmp.Compare(a.Pod.UID, b.Pod.UID))
}

// started is in the far future for a pod that has not: it counts as the youngest.
func started(p *cache.PodInfo) time.Time {
	if p.StartTime != nil {
		return p.StartTime.Time
	}
	return time.Unix(1<<40, 0)
}

// less says whether a does less harm than b: fewer budgets broken, then less important
// victims, then fewer, then younger ones.
func (a *Candidate) less(b *Candidate) bool {
	oldest := func(e *Candidate) (t time.Time) {
		for _, v := range e.Victims {
			if v.Priority == e.Victims[0].Priority && (t.IsZero() || started(v).Before(t)) {
				t = started(v)
			}
		}
		return t
	}
	sum := func(e *Candidate) (k int64) {
		for _, v := range e.Victims {
			k += int64(v.Priority) + math.MaxInt32 + 1 // so that fewer is less
		}
		return k
	}
	if len(a.Victims) == 0 || len(b.Victims) == 0 {
		return len(a.Victims) < len(b.Victims)
	}
	return cmp.Or(
		cmp.Compare(a.violations, b.violations),
		cmp.Compare(a.Victims[0].Priority, b.Victims[0].Priority),
		cmp.Compare(sum(a), sum(b)),
		cmp.Compare(len(a.Victims), len(b.Victims)),
		oldest(b).Compare(oldest(a)),
	) < 0
}
