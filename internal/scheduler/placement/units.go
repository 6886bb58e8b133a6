package placement

import (
	"cmp"
	"slices"
	"time"

	"fairlead.dev/internal/scheduler/cache"
)

// A Unit is a pod, or all pods of a group, or of a group of groups, whose disruption mode is All, wherever they run. Its pods are
// evicted together.
type Unit struct {
	// Key tells units apart.
	Key      string
	Pods     []*cache.PodInfo
	Priority int32 // of the pod's group, if it has one
	Grouped  bool  // its pods are of a group
	// Composite: it is a group of groups.
	Composite bool
}

// UnitsBelow returns the units of a lower priority to which pods belong, the most important first. Placeholders are no pods.
func (pl *Placer) UnitsBelow(priority int32, pods func(yield func(*cache.PodInfo) bool)) (units []Unit) {
	seen := map[*cache.PodInfo]bool{} // the pods of larger units
	for p := range pods {
		if p.Nominee != nil || seen[p] {
			continue
		}
		u := pl.Units(p)
		if len(u.Pods) > 1 {
			for _, member := range u.Pods {
				seen[member] = true
			}
		}
		if u.Priority < priority {
			units = append(units, u)
		}
	}
	slices.SortFunc(units, Unit.compare)
	return units
}

// compare orders units by importance: groups of groups, then those of groups, then single pods; the larger before the smaller,
// then those that started first.
func (u Unit) compare(v Unit) int {
	return cmp.Or(
		cmp.Compare(v.Priority, u.Priority),
		compareBools(v.Composite, u.Composite),
		compareBools(v.Grouped, u.Grouped),
		cmp.Compare(len(v.Pods), len(u.Pods)),
		u.started().Compare(v.started()),
		cmp.Compare(u.Key, v.Key),
	)
}

func compareBools(a, b bool) int {
	number := map[bool]int{true: 1}
	return cmp.Compare(number[a], number[b])
}

// started returns when the unit's first pod started.
func (u Unit) started() (first time.Time) {
	for _, p := range u.Pods {
		if t := started(p); first.IsZero() || t.Before(first) {
			first = t
		}
	}
	return first
}

// AwayUnits are units taken off their nodes, to see what fits without them.
type AwayUnits struct {
	c     *cache.Cluster
	nodes map[*cache.PodInfo]string
}

// TakeAway takes units off their nodes.
func TakeAway(c *cache.Cluster, units []Unit) AwayUnits {
	away := AwayUnits{c, map[*cache.PodInfo]string{}}
	for _, u := range units {
		for _, p := range u.Pods {
			away.nodes[p] = p.NodeInfo.Name
			c.RemovePod(p.Pod.UID)
		}
	}
	return away
}

// Back puts a unit back on its nodes.
func (a AwayUnits) Back(u Unit) {
	for _, p := range u.Pods {
		a.c.AddPod(p, a.nodes[p])
	}
}

// Again takes a unit away that Back put back.
func (a AwayUnits) Again(u Unit) {
	for _, p := range u.Pods {
		a.c.RemovePod(p.Pod.UID)
	}
}

// Reprieve puts back, one by one, the units that need not be evicted, as fits reports when one is back: first those that a
// disruption budget protects. It returns the others, and how many violations of budgets their eviction is.
func (a AwayUnits) Reprieve(units []Unit, fits func(back Unit) bool) (victims []Unit, violations int) {
	guarded, free, broken := splitUnits(a.c, units)
	for i, group := range [][]Unit{guarded, free} {
		for k, u := range group {
			a.Back(u)
			if fits(u) {
				continue
			}
			a.Again(u)
			victims = append(victims, u)
			if i == 0 {
				violations += broken[k]
			}
		}
	}
	slices.SortFunc(victims, Unit.compare)
	return victims, violations
}

// perNode are the filters whose answer about a node depends on that node alone.
var perNode = []string{"NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit", "NodeDeclaredFeatures"}

// LooksAtNodesAlone reports whether pods elsewhere do not matter for p on a node: no filter has a rule about other nodes, given
// the pods that run now. Then the pods on a node are the only ones whose eviction helps p there.
func (pl *Placer) LooksAtNodesAlone(c *cache.Cluster, p *cache.PodInfo) bool {
	for _, f := range pl.Filters {
		if slices.Contains(perNode, f.Name()) {
			continue
		}
		if check, v := f.PreFilter(c, p); check != nil || !v.IsSuccess() {
			return false
		}
	}
	return true
}

// splitUnits separates the units whose eviction would violate disruption budgets, with how many of their pods would.
func splitUnits(c *cache.Cluster, units []Unit) (guarded, free []Unit, broken []int) {
	var all []*cache.PodInfo
	for _, u := range units {
		all = append(all, u.Pods...)
	}
	list, _ := splitByBudget(c, all)
	protected := make(map[*cache.PodInfo]bool, len(list))
	for _, p := range list {
		protected[p] = true
	}
	for _, u := range units {
		n := 0
		for _, p := range u.Pods {
			if protected[p] {
				n++
			}
		}
		if n > 0 {
			guarded, broken = append(guarded, u), append(broken, n)
		} else {
			free = append(free, u)
		}
	}
	return guarded, free, broken
}

// dryRunUnits is dryRunPreemption with units for pods.
func (pl *Placer) dryRunUnits(c *cache.Cluster, p *cache.PodInfo, n *cache.NodeInfo) (*Candidate, []string) {
	units := pl.UnitsBelow(p.Priority, func(yield func(*cache.PodInfo) bool) {
		for _, other := range n.Pods {
			if !yield(other) {
				return
			}
		}
	})
	if len(units) == 0 {
		return nil, []string{"No preemption victims found for incoming pod"}
	}
	away := TakeAway(c, units)
	if reasons := pl.rejection(c, p, n); reasons != nil {
		for _, u := range units {
			away.Back(u)
		}
		return nil, reasons
	}
	e := &Candidate{Node: n}
	victims, violations := away.Reprieve(units, func(Unit) bool { return pl.rejection(c, p, n) == nil })
	e.Violations = violations
	for _, u := range victims {
		away.Back(u)
		e.Victims = append(e.Victims, u.Pods...)
	}
	slices.SortFunc(e.Victims, moreImportant)
	return e, nil
}
