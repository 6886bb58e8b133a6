package cache

// An ExistingTerm is an affinity or anti-affinity term of pods that are on nodes already. A
// required anti-affinity term ("no pod like this in my domain") excludes an incoming pod that it
// selects; the others attract or repel it by score. Pods with equal terms share one ExistingTerm.
type ExistingTerm struct {
	*PodSelector
	existingTermKey
	pods   map[*NodeInfo]int64 // how many pods on each node have the term
	counts *DomainCounts       // of pods, by domain; nil: not computed
}

type existingTermKey struct {
	match        string
	topologyKey  string
	AntiAffinity bool  // required anti-affinity
	Required     bool  // required affinity, whose weight is the profile's
	Weight       int64 // of a preference for a pod that it selects
}

type existingTerms struct {
	byKey map[existingTermKey]*ExistingTerm
	index selectorIndex[*ExistingTerm]
	// antiAffinity counts the required anti-affinity terms.
	antiAffinity int
}

// updateExistingTerms adds (n is 1) or removes (n is -1) the terms of p, which is on a node.
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
		k.counts.add(p.NodeInfo, n, n) // if it is outdated, it will be computed again
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

// ExistingAffinityTerms returns how many other terms pods on nodes have: required affinity and
// preferences.
func (c *Cluster) ExistingAffinityTerms() int {
	return len(c.existingTerms.byKey) - c.existingTerms.antiAffinity
}

// EachExistingTerm calls f with the existing terms that select p.
func (c *Cluster) EachExistingTerm(p *PodInfo, f func(*ExistingTerm)) {
	c.existingTerms.index.each(p.Pod.Labels, func(k *ExistingTerm) {
		if k.Matches(p.Pod.Namespace, p.Pod.Labels, c.Objects.NamespaceLabels) {
			f(k)
		}
	})
}

// ExistingTermCounts returns how many pods in each domain have the term. The result is read-only.
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
