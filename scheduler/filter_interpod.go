package scheduler

// interPodAffinity keeps pods beside, or away from, the pods that their required
// affinity and anti-affinity name; and away from pods whose anti-affinity names them.
type interPodAffinity struct{}

func (interPodAffinity) Name() string { return "InterPodAffinity" }

// domainSet are the domains in which there are certain pods.
type domainSet struct{ *sums }

func (d *domainSet) has(n *NodeInfo) bool {
	v := d.of(n)
	return v != absent && d.all[v] > 0
}

func (interPodAffinity) Prepare(c *Cluster, p *PodInfo) (Check, Verdict) {
	near, first := c.near(p)
	avoid := make([]domainSet, 0, len(p.antiAffinity))
	for i := range p.antiAffinity {
		if r := &p.antiAffinity[i]; c.tally(r.matcher).total > 0 {
			avoid = append(avoid, domainSet{c.domains(c.tally(r.matcher), r.topologyKey)})
		}
	}
	forbidden := c.forbidden(p)
	if len(near)+len(avoid)+len(forbidden) == 0 {
		return nil, fits
	}
	alone := Never("node(s) didn't match pod affinity rules")
	unwanted := No("node(s) didn't match pod anti-affinity rules")
	refused := No("node(s) didn't satisfy existing pods anti-affinity rules")
	return func(n *NodeInfo) Verdict {
		for i := range near {
			if near[i].of(n) == absent || !first && !near[i].has(n) {
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
		return fits
	}, fits
}

// near returns the domains that p's required affinity asks for. If no pod is in any of
// them and p would be in its own, p is the first of its kind and may go anywhere that has
// the topology keys.
func (c *Cluster) near(p *PodInfo) (near []domainSet, first bool) {
	if p.attract == nil {
		return nil, false
	}
	t, any := c.tally(p.attract), false
	for i := range p.affinity {
		d := domainSet{c.domains(t, p.affinity[i].topologyKey)}
		any = any || d.pods > 0
		near = append(near, d)
	}
	return near, !any && p.attract.matches(p.Pod.Namespace, p.Pod.Labels, c.objects.NamespaceLabels)
}

// forbidden returns the domains from which pods there keep p away.
func (c *Cluster) forbidden(p *PodInfo) (sets []domainSet) {
	if c.carriers.forbidding == 0 {
		return nil
	}
	c.carriersFor(p, func(k *carrier) {
		if k.forbids {
			sets = append(sets, domainSet{c.carried(k)})
		}
	})
	return sets
}

func (interPodAffinity) Events() EventKind {
	return NodeAdded | NodeChanged | NamespaceChanged | PodAdded | PodRemoved
}

func (interPodAffinity) Helps(p *PodInfo, e *Event) bool {
	return e.Kind != PodAdded || p.attract != nil || len(p.antiAffinity) > 0
}
