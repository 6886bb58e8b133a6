package cache

// ExistingTerm is a rule about other pods that pods on nodes carry with them: "no pod like
// this beside me" keeps an incoming pod away, "rather (not) beside pods like this" draws
// or repels it. Pods with equal rules share one carrier.
type ExistingTerm struct {
	*PodSelector
	existingTermKey
	pods   map[*NodeInfo]int64 // how many pods on each node carry it
	counts *DomainCounts       // of pods, over the topology key; nil: not made
}

type existingTermKey struct {
	match        string
	topologyKey  string
	AntiAffinity bool  // required anti-affinity
	Required     bool  // required affinity: how much it counts is the profile's to say
	Weight       int64 // of a preference to a pod that it selects
}

type existingTerms struct {
	byKey map[existingTermKey]*ExistingTerm
	index selectorIndex[*ExistingTerm]
	// antiAffinity counts the carriers that forbid.
	antiAffinity int
}

// updateExistingTerms adds or takes away the rules of p, which is on a node.
func (c *Cluster) updateExistingTerms(p *PodInfo, n int64) {
	for i := range p.RequiredAntiAffinityTerms {
		c.updateExistingTerm(p, &p.RequiredAntiAffinityTerms[i], existingTermKey{AntiAffinity: true}, n)
	}
	for i := range p.RequiredAffinityTerms {
		c.updateExistingTerm(p, &p.RequiredAffinityTerms[i], existingTermKey{Required: true}, n)
	}
	for i := range p.PreferredAffinityTerms {
		c.updateExistingTerm(p, &p.PreferredAffinityTerms[i], existingTermKey{Weight: p.PreferredAffinityTerms[i].Weight}, n)
	}
}

func (c *Cluster) updateExistingTerm(p *PodInfo, r *AffinityTerm, key existingTermKey, n int64) {
	key.match, key.topologyKey = r.Key, r.TopologyKey
	k := c.existingTerms.byKey[key]
	if k == nil {
		k = &ExistingTerm{PodSelector: r.PodSelector, existingTermKey: key, pods: map[*NodeInfo]int64{}}
		c.existingTerms.byKey[key] = k
		c.existingTerms.index.add(k, r.terms[0].selector)
		if key.AntiAffinity {
			c.existingTerms.antiAffinity++
		}
	}
	if k.pods[p.NodeInfo] += n; k.pods[p.NodeInfo] == 0 {
		delete(k.pods, p.NodeInfo)
	}
	if k.counts != nil {
		k.counts.add(p.NodeInfo, n, n) // if it is outdated, it will be made anew
	}
	if len(k.pods) == 0 {
		delete(c.existingTerms.byKey, key)
		c.existingTerms.index.remove(k, r.terms[0].selector)
		if key.AntiAffinity {
			c.existingTerms.antiAffinity--
		}
	}
}

// ExistingAntiAffinityTerms returns how many required anti-affinity terms pods on nodes have.
func (c *Cluster) ExistingAntiAffinityTerms() int { return c.existingTerms.antiAffinity }

// ExistingAffinityTerms returns how many other terms pods on nodes have: required affinity
// and preferences.
func (c *Cluster) ExistingAffinityTerms() int {
	return len(c.existingTerms.byKey) - c.existingTerms.antiAffinity
}

// EachExistingTerm calls f with the rules of pods on nodes that talk about p.
func (c *Cluster) EachExistingTerm(p *PodInfo, f func(*ExistingTerm)) {
	c.existingTerms.index.each(p.Pod.Labels, func(k *ExistingTerm) {
		if k.Matches(p.Pod.Namespace, p.Pod.Labels, c.Objects.NamespaceLabels) {
			f(k)
		}
	})
}

// ExistingTermCounts returns how many pods in each domain carry the rule; not to be written.
func (c *Cluster) ExistingTermCounts(k *ExistingTerm) *DomainCounts {
	if k.counts != nil && k.counts.version == c.topologyVersion {
		return k.counts
	}
	k.counts = newDomainCounts(c.Topology(k.topologyKey))
	for n, pods := range k.pods {
		k.counts.add(n, pods, pods)
	}
	return k.counts
}
