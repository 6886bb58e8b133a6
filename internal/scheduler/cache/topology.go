package cache

// Topology is a topology key as the nodes have it. Its values are numbered, so that what is
// counted by value stands in a slice, and a node's value is found by the node's slot. An
// axis does not change: when nodes or their labels have, there is another.
type Topology struct {
	version uint64  // Cluster.topology when made
	domains []int32 // the numbers, by NodeInfo.slot
	nodes   []int32 // how many nodes have a value, by its number
	withKey int     // how many have the key
}

// NoDomain is the value of a node that lacks the key.
const NoDomain = -1

// Domain returns the number of n's value.
func (a *Topology) Domain(n *NodeInfo) int32 {
	if n.slot < len(a.domains) {
		return a.domains[n.slot]
	}
	return NoDomain
}

// Topology returns what there is of a topology key.
func (c *Cluster) Topology(topologyKey string) *Topology {
	a := c.topologies[topologyKey]
	if a != nil && a.version == c.topologyVersion {
		return a
	}
	a = &Topology{version: c.topologyVersion, domains: make([]int32, c.slots)}
	for slot := range a.domains {
		a.domains[slot] = NoDomain
	}
	numbers := map[string]int32{}
	for _, n := range c.NodeInfos {
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
		a.domains[n.slot] = number
		a.nodes[number]++
		a.withKey++
	}
	c.topologies[topologyKey] = a
	return a
}

// Len returns the number of domains.
func (a *Topology) Len() int { return len(a.nodes) }

// NumNodes returns how many nodes are in a domain, which are those that have the topology key.
func (a *Topology) NumNodes() int { return a.withKey }

// HasAllKeys says whether n has the keys of all axes.
func HasAllKeys(axes []*Topology, n *NodeInfo) bool {
	for _, a := range axes {
		if a.Domain(n) == NoDomain {
			return false
		}
	}
	return true
}

// DomainCounts adds up counts over the nodes that share a value of a topology key: how many
// pods are in each zone, say. It is kept right as pods come and go, and made anew when the
// axis is.
type DomainCounts struct {
	*Topology
	All   []int64 // by value
	Live  []int64
	Total int64 // in all
}

func (s *DomainCounts) add(n *NodeInfo, all, live int64) {
	if v := s.Domain(n); v != NoDomain {
		s.All[v] += all
		s.Live[v] += live
		s.Total += all
	}
}

// DomainCounts returns the sums of a tally over a topology key. They are the tally's: good
// until a pod or node changes, and not to be written.
func (c *Cluster) DomainCounts(t *Tally, topologyKey string) *DomainCounts {
	s := t.domainCounts[topologyKey]
	if s != nil && s.version == c.topologyVersion {
		return s
	}
	s = newDomainCounts(c.Topology(topologyKey))
	if t.Total > 0 {
		for _, n := range c.NodeInfos {
			s.add(n, int64(t.Pods(n)), int64(t.LivePods(n)))
		}
	}
	if t.domainCounts == nil {
		t.domainCounts = map[string]*DomainCounts{}
	}
	t.domainCounts[topologyKey] = s
	return s
}

func newDomainCounts(a *Topology) *DomainCounts {
	return &DomainCounts{Topology: a, All: make([]int64, len(a.nodes)), Live: make([]int64, len(a.nodes))}
}
