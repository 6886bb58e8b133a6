package cache

// A Topology maps nodes to the domains of one topology key. Domains are numbered, so that counts by
// domain are slices, and a node's domain is found by the node's slot. A Topology is immutable: when
// nodes or their labels change, another one is computed.
type Topology struct {
	version uint64  // Cluster.topologyVersion when it was computed
	domains []int32 // the domain of each node, by NodeInfo.slot
	nodes   []int32 // the number of nodes in each domain
	withKey int     // how many nodes have the key
}

// NoDomain is the domain of a node without the key.
const NoDomain = -1

// Domain returns the number of n's domain.
func (a *Topology) Domain(n *NodeInfo) int32 {
	if n.slot < len(a.domains) {
		return a.domains[n.slot]
	}
	return NoDomain
}

// Topology returns the domains of a topology key.
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

// NumNodes returns how many nodes have the topology key.
func (a *Topology) NumNodes() int { return a.withKey }

// HasAllKeys reports whether n has the keys of all topologies.
func HasAllKeys(axes []*Topology, n *NodeInfo) bool {
	for _, a := range axes {
		if a.Domain(n) == NoDomain {
			return false
		}
	}
	return true
}

// DomainCounts are counts of pods by domain: how many pods are in each zone, say. They are updated
// as pods come and go, and computed again when the Topology is.
type DomainCounts struct {
	*Topology
	All   []int64 // by domain
	Live  []int64
	Total int64 // over all domains
}

func (s *DomainCounts) add(n *NodeInfo, all, live int64) {
	if v := s.Domain(n); v != NoDomain {
		s.All[v] += all
		s.Live[v] += live
		s.Total += all
	}
}

// DomainCounts returns the counts of a tally by the domains of a topology key. They are valid until
// a pod or node changes, and read-only.
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
