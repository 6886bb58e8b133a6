package scheduler

import "k8s.io/apimachinery/pkg/labels"

const spreadReason = "node(s) didn't match pod topology spread constraints"

// topologySpread keeps the pods that a constraint selects even over the domains of a
// topology key, for constraints that must hold (DoNotSchedule).
type topologySpread struct {
	defaults *spreadDefaults
}

func (topologySpread) Name() string { return "PodTopologySpread" }

// spreadCount is how one constraint stands before the pod is placed.
type spreadCount struct {
	rule     *spreadRule
	inDomain map[string]int64 // pods; a domain without any may be missing
	least    int64            // in any domain
	self     int64            // 1 if the pod counts itself
}

func (f topologySpread) Prepare(c *Cluster, p *PodInfo) (Check, Verdict) {
	hard, _ := f.defaults.rules(c, p, true)
	if hard == nil {
		return nil, fits
	}
	counts := make([]spreadCount, len(hard))
	for i, r := range hard {
		counts[i] = c.spreadCount(p, r, hard)
	}
	uneven, unlabeled := No(spreadReason), Never(spreadReason+" (missing required label)")
	return func(n *NodeInfo) Verdict {
		for i := range counts {
			k := &counts[i]
			v, ok := n.Node.Labels[k.rule.topologyKey]
			if !ok {
				return unlabeled
			}
			if k.inDomain[v]+k.self-k.least > k.rule.maxSkew {
				return uneven
			}
		}
		return fits
	}, fits
}

// spreadCount counts the domains of r. Only nodes that have the keys of all rules, and
// that r's inclusion policies admit, make a domain; where that is every node that has r's
// key, the sums are at hand.
func (c *Cluster) spreadCount(p *PodInfo, r *spreadRule, all []*spreadRule) spreadCount {
	k := spreadCount{rule: r}
	t := c.tally(r.matcher)
	n := 0 // domains
	if c.admitsAll(p, r, all) {
		k.inDomain = c.domains(t, r.topologyKey).live
		n = len(c.values(r.topologyKey).nodes)
	} else {
		k.inDomain = map[string]int64{}
		for _, node := range c.order {
			if r.admits(p, node) && hasKeys(node, all) {
				k.inDomain[node.Node.Labels[r.topologyKey]] += int64(t.liveOn(node))
			}
		}
		n = len(k.inDomain)
	}
	if r.selectsNone {
		k.inDomain = nil
	}
	if n >= r.minDomains && n == len(k.inDomain) {
		first := true
		for _, v := range k.inDomain {
			if first || v < k.least {
				k.least, first = v, false
			}
		}
	}
	if r.terms[0].selector.Matches(labels.Set(p.Pod.Labels)) {
		k.self = 1
	}
	return k
}

// admitsAll says that every node with r's key makes a domain for p.
func (c *Cluster) admitsAll(p *PodInfo, r *spreadRule, all []*spreadRule) bool {
	if p.nodes != nil && !r.anyNode || r.byTaint {
		return false
	}
	for _, other := range all {
		if other != r && c.values(other.topologyKey).with < c.Len() {
			return false
		}
	}
	return true
}

func (r *spreadRule) countOn(t *tally, n *NodeInfo) int64 {
	if r.selectsNone {
		return 0
	}
	return int64(t.liveOn(n))
}

// admits says whether the pods of n count for p's rule r.
func (r *spreadRule) admits(p *PodInfo, n *NodeInfo) bool {
	return (r.anyNode || p.nodes.matches(n.Node)) &&
		(!r.byTaint || toleratesAll(p.Pod.Spec.Tolerations, n.taints))
}

func hasKeys(n *NodeInfo, rules []*spreadRule) bool {
	for _, r := range rules {
		if _, ok := n.Node.Labels[r.topologyKey]; !ok {
			return false
		}
	}
	return true
}

func (topologySpread) Events() EventKind {
	return NodeAdded | NodeChanged | NodeRemoved | PodAdded | PodRemoved
}

func (f topologySpread) Helps(p *PodInfo, e *Event) bool {
	if e.Kind.any(NodeAdded | NodeChanged | NodeRemoved) {
		return true
	}
	if e.Pod.Pod.Namespace != p.Pod.Namespace {
		return false
	}
	if len(p.spread) == 0 && f.defaults.hard() {
		return true
	}
	for i := range p.spread {
		// Any constraint that counts the pod, or may have counted it under its old labels.
		if r := &p.spread[i]; r.hard && (e.Kind == PodAdded || r.terms[0].selector.Matches(labels.Set(e.Pod.Pod.Labels))) {
			return true
		}
	}
	return false
}
