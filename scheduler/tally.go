package scheduler

// A tally counts the pods that a matcher selects, node by node. It is made when a rule
// first asks (by looking at the pods there are, once), kept right as pods come and go, and
// dropped when no rule has asked for it in a long while.
type tally struct {
	*matcher
	all   []int32          // by NodeInfo.slot
	live  []int32          // those not being deleted
	total int              // of all
	used  uint64           // the cluster's clock when last asked for
	sums  map[string]*sums // by topology key
}

// maxTallies is how many tallies may stand before the unused ones are dropped.
const maxTallies = 4096

type tallies struct {
	byKey map[string]*tally
	index pairIndex[*tally]
}

// tally returns the count for m.
func (c *Cluster) tally(m *matcher) *tally {
	t := c.tallies.byKey[m.key]
	if t == nil {
		t = &tally{matcher: m, all: make([]int32, c.slots), live: make([]int32, c.slots)}
		for p := range c.candidates(m) {
			if m.matches(p.Pod.Namespace, p.Pod.Labels, c.objects.NamespaceLabels) {
				t.count(p, 1)
			}
		}
		if len(c.tallies.byKey) >= maxTallies {
			c.dropIdleTallies()
		}
		c.tallies.byKey[m.key] = t
		c.tallies.index.add(t, m.terms[0].selector)
	}
	t.used = c.clock
	return t
}

func (t *tally) count(p *PodInfo, n int32) {
	slot := p.node.slot
	for slot >= len(t.all) {
		t.all, t.live = append(t.all, 0), append(t.live, 0)
	}
	t.all[slot] += n
	t.total += int(n)
	live := n
	if p.terminating {
		live = 0
	}
	t.live[slot] += live
	for _, s := range t.sums {
		s.add(p.node, int64(n), int64(live)) // if it is outdated, it will be made anew
	}
}

func (t *tally) on(n *NodeInfo) int32     { return at(t.all, n.slot) }
func (t *tally) liveOn(n *NodeInfo) int32 { return at(t.live, n.slot) }

func at(counts []int32, slot int) int32 {
	if slot < len(counts) {
		return counts[slot]
	}
	return 0
}

// tell updates every tally that selects p.
func (c *Cluster) tell(p *PodInfo, n int32) {
	c.tallies.index.each(p.Pod.Labels, func(t *tally) {
		if t.matches(p.Pod.Namespace, p.Pod.Labels, c.objects.NamespaceLabels) {
			t.count(p, n)
		}
	})
}

// dropIdleTallies drops the tallies that none of the last pods asked for.
func (c *Cluster) dropIdleTallies() {
	for key, t := range c.tallies.byKey {
		if c.clock-t.used > maxTallies/2 {
			c.dropTally(key, t)
		}
	}
}

func (c *Cluster) dropTally(key string, t *tally) {
	delete(c.tallies.byKey, key)
	c.tallies.index.remove(t, t.terms[0].selector)
}

// NamespacesChanged forgets what was concluded from labels of namespaces.
func (c *Cluster) NamespacesChanged() {
	for key, t := range c.tallies.byKey {
		if t.readsNamespaces() {
			c.dropTally(key, t)
		}
	}
}
