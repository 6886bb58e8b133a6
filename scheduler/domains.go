package scheduler

// axis is a topology key as the nodes have it. Its values are numbered, so that what is
// counted by value stands in a slice, and a node's value is found by the node's slot. An
// axis does not change: when nodes or their labels have, there is another.
type axis struct {
	made   uint64  // Cluster.topology when made
	values []int32 // the numbers, by NodeInfo.slot
	nodes  []int32 // how many nodes have a value, by its number
	with   int     // how many have the key
}

// absent is the value of a node that lacks the key.
const absent = -1

// of returns the number of n's value.
func (a *axis) of(n *NodeInfo) int32 {
	if n.slot < len(a.values) {
		return a.values[n.slot]
	}
	return absent
}

// axis returns what there is of a topology key.
func (c *Cluster) axis(topologyKey string) *axis {
	a := c.axes[topologyKey]
	if a != nil && a.made == c.topology {
		return a
	}
	a = &axis{made: c.topology, values: make([]int32, c.slots)}
	for slot := range a.values {
		a.values[slot] = absent
	}
	numbers := map[string]int32{}
	for _, n := range c.order {
		value, ok := n.Node.Labels[topologyKey]
		if !ok {
			continue
		}
		number, met := numbers[value]
		if !met {
			number = int32(len(a.nodes))
			numbers[value] = number
			a.nodes = append(a.nodes, 0)
		}
		a.values[n.slot] = number
		a.nodes[number]++
		a.with++
	}
	c.axes[topologyKey] = a
	return a
}

// onAll says whether n has the keys of all axes.
func onAll(axes []*axis, n *NodeInfo) bool {
	for _, a := range axes {
		if a.of(n) == absent {
			return false
		}
	}
	return true
}

// sums adds up counts over the nodes that share a value of a topology key: how many
// pods are in each zone, say. It is kept right as pods come and go, and made anew when the
// axis is.
type sums struct {
	*axis
	all  []int64 // by value
	live []int64
	pods int64 // in all
}

func (s *sums) add(n *NodeInfo, all, live int64) {
	if v := s.of(n); v != absent {
		s.all[v] += all
		s.live[v] += live
		s.pods += all
	}
}

// domains returns the sums of a tally over a topology key. They are the tally's: good
// until a pod or node changes, and not to be written.
func (c *Cluster) domains(t *tally, topologyKey string) *sums {
	s := t.sums[topologyKey]
	if s != nil && s.made == c.topology {
		return s
	}
	s = newSums(c.axis(topologyKey))
	if t.total > 0 {
		for _, n := range c.order {
			s.add(n, int64(t.on(n)), int64(t.liveOn(n)))
		}
	}
	if t.sums == nil {
		t.sums = map[string]*sums{}
	}
	t.sums[topologyKey] = s
	return s
}

func newSums(a *axis) *sums {
	return &sums{axis: a, all: make([]int64, len(a.nodes)), live: make([]int64, len(a.nodes))}
}
