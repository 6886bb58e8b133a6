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

// A Candidate is a node that would fit the preemptor without its victims.
type Candidate struct {
	Node       *cache.NodeInfo
	Victims    []*cache.PodInfo // most important first
	Violations int              // how many disruption budgets its victims violate
}

// Preempt looks for the node on which p fits after the least harmful evictions, among e.Resolvable.
// It simulates on the cluster itself, removing pods from a node and putting them back. If there is
// no such node, e.Preemption gives the reasons; it stays empty for a pod that was rejected before
// any node was checked, unless the filter has a PostFilter: kube-scheduler goes no further than an error of the others.
//
// For example, a pod of priority 10 that needs 3 CPUs, on two nodes of 4 CPUs:
//
//	n1   a (3 CPUs, priority 5)
//	n2   b (2 CPUs, priority 1), c (1 CPU, priority 2), d (1 CPU, priority 20)
//
// On n1 the victim is a. On n2 all pods of lower priority, b and c, leave; 3 CPUs are free then,
// so neither c nor b fits back: the victims are c and b. Neither candidate violates a budget,
// and the most important victim of n2, priority 2, is less important than that of n1,
// priority 5: n2 is chosen, although it has more victims.
func (pl *Placer) Preempt(c *cache.Cluster, p *cache.PodInfo, e *framework.FitError) *Candidate {
	return Best(pl.Candidates(c, p, e))
}

// Candidates returns the nodes among which Preempt chooses, as many as the profile wants of a large cluster.
func (pl *Placer) Candidates(c *cache.Cluster, p *cache.PodInfo, e *framework.FitError) (all []*Candidate) {
	if !e.PreFilter.IsSuccess() && !slices.ContainsFunc(e.RejectedBy, func(f framework.Filter) bool {
		_, helps := f.(framework.PostFilter)
		return helps
	}) {
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
		if v != nil {
			all = append(all, v)
		}
		if len(all) == enough {
			break
		}
	}
	if len(all) == 0 {
		e.Preemption = "preemption: " + why.Error()
	}
	return all
}

// Best returns the least harmful candidate; nil without candidates.
func Best(all []*Candidate) (best *Candidate) {
	for _, v := range all {
		if best == nil || v.less(best) {
			best = v
		}
	}
	return best
}

// IneligibleToPreempt returns why p, which fits no node because of e, may not preempt; "" if it
// may. A pod waits for its victims on the node to which it is nominated, unless it cannot run there
// any more.
func IneligibleToPreempt(c *cache.Cluster, p *cache.PodInfo, e *framework.FitError) string {
	if policy := p.Pod.Spec.PreemptionPolicy; policy != nil && *policy == corev1.PreemptNever {
		return "not eligible due to preemptionPolicy=Never."
	}
	if n := c.NominatedNode(p.Pod.UID); n != nil && slices.Contains(e.Resolvable, n) {
		for _, victim := range n.Pods {
			if victim.Priority < p.Priority && victim.Terminating && IsPreempted(victim.Pod) {
				return "not eligible due to a terminating pod on the nominated node."
			}
		}
	}
	return ""
}

// IsPreempted reports whether a scheduler has preempted a pod.
func IsPreempted(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue && c.Reason == corev1.PodReasonPreemptionByScheduler
	})
}

// dryRunPreemption finds the fewest pods of n that must leave for p to fit. It removes all pods of
// lower priority, then puts them back one by one, if p still fits: first those that a disruption
// budget protects, and the most important of each group first.
func (pl *Placer) dryRunPreemption(c *cache.Cluster, p *cache.PodInfo, n *cache.NodeInfo) (*Candidate, []string) {
	if pl.Units != nil {
		return pl.dryRunUnits(c, p, n)
	}
	var lower []*cache.PodInfo
	if c.HasPodsBelow(p.Priority) {
		for _, other := range n.Pods {
			if other.Priority < p.Priority && other.Nominee == nil {
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
				e.Violations++
			}
		}
	}
	for _, victim := range e.Victims {
		c.AddPod(victim, n.Name)
	}
	slices.SortFunc(e.Victims, moreImportant)
	return e, nil
}

// Fits reports whether p fits on n. Placeholders of pods with a lower priority do not count.
func (pl *Placer) Fits(c *cache.Cluster, p *cache.PodInfo, n *cache.NodeInfo) bool {
	_, back := c.SetAsideNominated(p)
	defer back()
	return pl.rejection(c, p, n) == nil
}

// rejection returns the reasons against p on n in the current cluster.
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

// moreImportant orders pods by priority, the highest first, then by start time, the oldest first.
func moreImportant(a, b *cache.PodInfo) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), started(a).Compare(started(b)), cmp.Compare(a.Pod.UID, b.Pod.UID))
}

// started returns a time in the far future for a pod that has not started: it counts as the
// youngest.
func started(p *cache.PodInfo) time.Time {
	if p.Pod.Status.StartTime != nil {
		return p.Pod.Status.StartTime.Time
	}
	return time.Unix(1<<40, 0)
}

// less reports whether a is less harmful than b: fewer violated budgets, then less important
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
			k += int64(v.Priority) + math.MaxInt32 + 1 // so that fewer victims have a smaller sum
		}
		return k
	}
	if len(a.Victims) == 0 || len(b.Victims) == 0 {
		return len(a.Victims) < len(b.Victims)
	}
	return cmp.Or(
		cmp.Compare(a.Violations, b.Violations),
		cmp.Compare(a.Victims[0].Priority, b.Victims[0].Priority),
		cmp.Compare(sum(a), sum(b)),
		cmp.Compare(len(a.Victims), len(b.Victims)),
		oldest(b).Compare(oldest(a)),
	) < 0
}
