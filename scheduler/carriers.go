package scheduler

// carrier is a rule about other pods that pods on nodes carry with them: "no pod like
// this beside me" keeps an incoming pod away, "rather (not) beside pods like this" draws
// or repels it. Pods with equal rules share one carrier.
type carrier struct {
	*matcher
	carrierKey
	pods map[*NodeInfo]int64 // how many pods on each node carry it
	sums *sums               // of pods, over the topology key; nil: not made
}

type carrierKey struct {
	match       string
	topologyKey string
	forbids     bool  // required anti-affinity
	required    bool  // required affinity: how much it counts is the profile's to say
	weight      int64 // of a preference to a pod that it selects
}

type carriers struct {
	byKey map[carrierKey]*carrier
	index pairIndex[*carrier]
	// forbidding counts the carriers that forbid.
	forbidding int
}

// carry adds or takes away the rules of p, which is on a node.
func (c *Cluster) carry(p *PodInfo, n int64) {
	for i := range p.antiAffinity {
		c.carryRule(p, &p.antiAffinity[i], carrierKey{forbids: true}, n)
	}
	for i := range p.affinity {
		c.carryRule(p, &p.affinity[i], carrierKey{required: true}, n)
	}
	for i := range p.preferPods {
		c.carryRule(p, &p.preferPods[i], carrierKey{weight: p.preferPods[i].weight}, n)
	}
}

func (c *Cluster) carryRule(p *PodInfo, r *affinityRule, key carrierKey, n int64) {
	key.match, key.topologyKey = r.key, r.topologyKey
	k := c.carriers.byKey[key]
	if k == nil {
		k = &carrier{matcher: r.matcher, carrierKey: key, pods: map[*NodeInfo]int64{}}
		c.carriers.byKey[key] = k
		c.carriers.index.add(k, r.terms[0].selector)
		if key.forbids {
			c.carriers.forbidding++
		}
	}
	if k.pods[p.node] += n; k.pods[p.node] == 0 {
		delete(k.pods, p.node)
	}
	if k.sums != nil {
		k.sums.add(p.node, n, n) // if it is outdated, it will be made anew
	}
	if len(k.pods) == 0 {
		delete(c.carriers.byKey, key)
		c.carriers.index.remove(k, r.terms[0].selector)
		if key.forbids {
			c.carriers.forbidding--
		}
	}
}

// carriersFor calls f with the rules of pods on nodes that talk about p.
func (c *Cluster) carriersFor(p *PodInfo, f func(*carrier)) {
	c.carriers.index.each(p.Pod.Labels, func(k *carrier) {
		if k.matches(p.Pod.Namespace, p.Pod.Labels, c.objects.NamespaceLabels) {
			f(k)
		}
	})
}

// carried returns how many pods in each domain carry the rule; not to be written.
func (c *Cluster) carried(k *carrier) *sums {
	if k.sums != nil && k.sums.made == c.topology {
		return k.sums
	}
	k.sums = newSums(c.axis(k.topologyKey))
	for n, pods := range k.pods {
		k.sums.add(n, pods, pods)
	}
	return k.sums
}
