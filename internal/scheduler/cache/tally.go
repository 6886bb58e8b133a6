package cache

// A Tally counts the pods that a PodSelector selects, by node. It is computed when a rule first
// needs it, from all candidates, then updated as pods come and go, and dropped when no rule has
// used it in many scheduling attempts.
type Tally struct {
	*PodSelector
	all          []int32                  // by NodeInfo.slot
	live         []int32                  // those that are not terminating
	Total        int                      // of all
	used         uint64                   // Cluster.attempts at the last use
	domainCounts map[string]*DomainCounts // by topology key
}

// maxTallies is the number of tallies above which unused ones are dropped.
const maxTallies = 4096

type tallies struct {
	byKey map[string]*Tally
	index selectorIndex[*Tally]
}

// Tally returns the tally of m.
func (c *Cluster) Tally(m *PodSelector) *Tally {
	t := c.tallies.byKey[m.Key]
	if t == nil {
		t = &Tally{PodSelector: m, all: make([]int32, c.slots), live: make([]int32, c.slots)}
		for p := range c.candidates(m) {
			if m.Matches(p.Pod.Namespace, p.Pod.Labels, c.Objects.NamespaceLabels) {
				t.count(p, 1)
			}
		}
		if len(c.tallies.byKey) >= maxTallies {
			c.dropUnusedTallies()
		}
		c.tallies.byKey[m.Key] = t
		c.tallies.index.add(t, m.terms[0].selector)
	}
	t.used = c.attempts
	return t
}

func (t *Tally) count(p *PodInfo, n int32) {
	slot := p.NodeInfo.slot
	for slot >= len(t.all) {
		t.all, t.live = append(t.all, 0), append(t.live, 0)
	}
	t.all[slot] += n
	t.Total += int(n)
	live := n
	if p.Terminating {
		live = 0
	}
	t.live[slot] += live
	for _, s := range t.domainCounts {
		s.add(p.NodeInfo, int64(n), int64(live)) // if it is outdated, it will be computed again
	}
}

func (t *Tally) Pods(n *NodeInfo) int32     { return at(t.all, n.slot) }
func (t *Tally) LivePods(n *NodeInfo) int32 { return at(t.live, n.slot) }

func at(counts []int32, slot int) int32 {
	if slot < len(counts) {
		return counts[slot]
	}
	return 0
}

// updateTallies updates every tally that selects p.
func (c *Cluster) updateTallies(p *PodInfo, n int32) {
	c.tallies.index.each(p.Pod.Labels, func(t *Tally) {
		if t.Matches(p.Pod.Namespace, p.Pod.Labels, c.Objects.NamespaceLabels) {
			t.count(p, n)
		}
	})
}

// dropUnusedTallies drops the tallies that were not used in the last maxTallies/2 attempts.
func (c *Cluster) dropUnusedTallies() {
	for key, t := range c.tallies.byKey {
		if c.attempts-t.used > maxTallies/2 {
			c.dropTally(key, t)
		}
	}
}

func (c *Cluster) dropTally(key string, t *Tally) {
	delete(c.tallies.byKey, key)
	c.tallies.index.remove(t, t.terms[0].selector)
}

// NamespacesChanged drops the tallies that depend on labels of namespaces.
func (c *Cluster) NamespacesChanged() {
	for key, t := range c.tallies.byKey {
		if t.readsNamespaces() {
			c.dropTally(key, t)
		}
	}
}
