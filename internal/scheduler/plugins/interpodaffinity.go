package plugins

import (
	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

// interPodAffinity enforces a pod's required affinity and anti-affinity, and the required
// anti-affinity of the existing pods.
type interPodAffinity struct{}

func (interPodAffinity) Name() string { return "InterPodAffinity" }

// domainSet is the set of domains with at least one counted pod.
type domainSet struct{ *cache.DomainCounts }

func (d *domainSet) has(n *cache.NodeInfo) bool {
	v := d.Domain(n)
	return v != cache.NoDomain && d.All[v] > 0
}

func (interPodAffinity) PreFilter(c *cache.Cluster, p *cache.PodInfo) (framework.FilterFunc, framework.Status) {
	near, first := requiredAffinityDomains(c, p)
	avoid := make([]domainSet, 0, len(p.RequiredAntiAffinityTerms))
	for i := range p.RequiredAntiAffinityTerms {
		if r := &p.RequiredAntiAffinityTerms[i]; c.Tally(r.PodSelector).Total > 0 {
			avoid = append(avoid, domainSet{c.DomainCounts(c.Tally(r.PodSelector), r.TopologyKey)})
		}
	}
	forbidden := existingAntiAffinityDomains(c, p)
	if len(near)+len(avoid)+len(forbidden) == 0 {
		return nil, success
	}
	alone := framework.Unresolvable("node(s) didn't match pod affinity rules")
	unwanted := framework.Unschedulable("node(s) didn't match pod anti-affinity rules")
	refused := framework.Unschedulable("node(s) didn't satisfy existing pods anti-affinity rules")
	return func(n *cache.NodeInfo) framework.Status {
		for i := range near {
			if near[i].Domain(n) == cache.NoDomain || !first && !near[i].has(n) {
				return alone
			}
		}
		for i := range avoid {
			if avoid[i].has(n) {
				return unwanted
			}
		}
		for i := range forbidden {
			if forbidden[i].has(n) {
				return refused
			}
		}
		return success
	}, success
}

// requiredAffinityDomains returns the domains that satisfy p's required affinity. If they hold no
// pod and p would match its own terms, p is the first of its group and may go to any node that has
// the topology keys.
func requiredAffinityDomains(c *cache.Cluster, p *cache.PodInfo) (near []domainSet, first bool) {
	if p.RequiredAffinityPods == nil {
		return nil, false
	}
	t, any := c.Tally(p.RequiredAffinityPods), false
	for i := range p.RequiredAffinityTerms {
		d := domainSet{c.DomainCounts(t, p.RequiredAffinityTerms[i].TopologyKey)}
		any = any || d.Total > 0
		near = append(near, d)
	}
	return near, !any && p.RequiredAffinityPods.Matches(p.Pod.Namespace, p.Pod.Labels, c.Objects.NamespaceLabels)
}

// existingAntiAffinityDomains returns the domains from which existing pods exclude p.
func existingAntiAffinityDomains(c *cache.Cluster, p *cache.PodInfo) (sets []domainSet) {
	if c.ExistingAntiAffinityTerms() == 0 {
		return nil
	}
	c.EachExistingTerm(p, func(k *cache.ExistingTerm) {
		if k.AntiAffinity {
			sets = append(sets, domainSet{c.ExistingTermCounts(k)})
		}
	})
	return sets
}

func (interPodAffinity) EventsToRegister() framework.EventKind {
	return framework.NodeAdded | framework.NodeChanged | framework.NamespaceChanged | framework.PodAdded | framework.PodRemoved
}

func (interPodAffinity) QueueingHint(p *cache.PodInfo, e *framework.ClusterEvent) bool {
	return e.Kind != framework.PodAdded || p.RequiredAffinityPods != nil || len(p.RequiredAntiAffinityTerms) > 0
}
