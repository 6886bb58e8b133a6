package scheduler

// sums adds up counts over the nodes that share a value of a topology key: how many
// pods are in each zone, say. It is kept right as pods come and go, and made anew when the
// nodes or their labels have changed since.
type sums struct {
	made uint64 // Cluster.topology when made
	all  map[string]int64
	live map[string]int64
}

func (s *sums) add(value string, n int64, live bool) {
	bump(s.all, value, n)
	if live {
		bump(s.live, value, n)
	}
}

func bump(m map[string]int64, value string, n int64) {
	if m[value] += n; m[value] == 0 {
		delete(m, value)
	}
}

// domains returns the sums of a tally over a topology key. They are the tally's: good
// until a pod or node changes, and not to be written.
func (c *Cluster) domains(t *tally, topologyKey string) *sums {
	s := t.sums[topologyKey]
	if s != nil && s.made == c.topology {
		return s
	}
	s = &sums{made: c.topology, all: map[string]int64{}, live: map[string]int64{}}
	if t.total > 0 {
		for _, n := range c.order {
			k := int64(t.on(n))
			if k == 0 {
				continue
			}
			if v, ok := n.Node.Labels[topologyKey]; ok {
				s.all[v] += k
				bump(s.live, v, int64(t.liveOn(n)))
			}
		}
	}
	if t.sums == nil {
		t.sums = map[string]*sums{}
	}
	t.sums[topologyKey] = s
	return s
}

// values counts the nodes by their value of a topology key.
type values struct {
	made  uint64
	nodes map[string]int
	with  int // nodes that have the key
}

// values returns what there is of a topology key.
func (c *Cluster) values(topologyKey string) *values {
	v := c.keys[topologyKey]
	if v != nil && v.made == c.topology {
		return v
	}
	v = &values{made: c.topology, nodes: map[string]int{}}
	for _, n := range c.order {
		if value, ok := n.Node.Labels[topologyKey]; ok {
			v.nodes[value]++
			v.with++
		}
	}
	c.keys[topologyKey] = v
	return v
}
