package scheduler

import (
	"math"

	"k8s.io/apimachinery/pkg/labels"
)

const spreadReason = "node(s) didn't match pod topology spread constraints"

// topologySpread keeps the pods that a constraint selects even over the domains of a
// topology key, for constraints that must hold (DoNotSchedule).
type topologySpread struct {
	defaults *spreadDefaults
}

func (topologySpread) Name() string { return "PodTopologySpread" }

// spreadCount is how one constraint stands before the pod is placed.
type spreadCount struct {
	*axis
	pods []int64 // by domain
	room int64   // how many may be in the pod's domain before it comes
}

func (f topologySpread) Prepare(c *Cluster, p *PodInfo) (Check, Verdict) {
	hard, _ := f.defaults.rules(c, p, true)
	if hard == nil {
		return nil, fits
	}
	axes := c.axesOf(hard)
	counts := make([]spreadCount, len(hard))
	for i, r := range hard {
		counts[i] = c.spreadCount(p, r, axes[i], axes)
	}
	uneven, unlabeled := No(spreadReason), Never(spreadReason+" (missing required label)")
	return func(n *NodeInfo) Verdict {
		for i := range counts {
			k := &counts[i]
			v := k.of(n)
			if v == absent {
				return unlabeled
			}
			if k.pods[v] > k.room {
				return uneven
			}
		}
		return fits
	}, fits
}

func (c *Cluster) axesOf(rules []*spreadRule) []*axis {
	axes := make([]*axis, len(rules))
	for i, r := range rules {
		axes[i] = c.axis(r.topologyKey)
	}
	return axes
}

// spreadCount counts the domains of r, which is over a. Only nodes that have the keys of
// all rules, and that r's inclusion policies admit, make a domain; where that is every node
// that has r's key, the sums are at hand.
func (c *Cluster) spreadCount(p *PodInfo, r *spreadRule, a *axis, all []*axis) spreadCount {
	k := spreadCount{axis: a, room: r.maxSkew}
	t := c.tally(r.matcher)
	n, least := 0, int64(math.MaxInt64) // domains, and the pods in that which has the fewest
	if c.admitsAll(p, r, a, all) {
		k.pods = c.domains(t, r.topologyKey).live
		n = len(k.pods)
		for _, pods := range k.pods {
			least = min(least, pods)
		}
	} else {
		var counted []bool
		k.pods, counted = c.admitted(p, r, a, t, all)
		for v, pods := range k.pods {
			if counted[v] {
				least = min(least, pods)
				n++
			}
		}
	}
	switch {
	case r.selectsNone:
		k.pods = make([]int64, len(a.nodes))
	case n > 0 && n >= r.minDomains:
		k.room += least
	}
	if r.terms[0].selector.Matches(labels.Set(p.Pod.Labels)) {
		k.room--
	}
	return k
}

// admitted counts t's pods over a, on nodes that r admits and that have the keys of all
// rules, and says which domains these nodes make.
func (c *Cluster) admitted(p *PodInfo, r *spreadRule, a *axis, t *tally, all []*axis) (pods []int64, domains []bool) {
	pods, domains = make([]int64, len(a.nodes)), make([]bool, len(a.nodes))
	for _, n := range c.order {
		if v := a.of(n); v != absent && onAll(all, n) && r.admits(p, n) {
			pods[v] += int64(t.liveOn(n))
			domains[v] = true
		}
	}
	return pods, domains
}

// admitsAll says that every node with r's key makes a domain for p.
func (c *Cluster) admitsAll(p *PodInfo, r *spreadRule, a *axis, all []*axis) bool {
	if p.nodes != nil && !r.anyNode || r.byTaint {
		return false
	}
	for _, other := range all {
		if other != a && other.with < c.Len() {
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
