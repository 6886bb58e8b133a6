package scheduler

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
	"fairlead.dev/internal/scheduler/plugins"
)

// A groupPlacement is a topology domain: the nodes with one value of the label that a group's constraint names.
type groupPlacement struct {
	domain string
	nodes  []*cache.NodeInfo
}

// topologyKey returns the label whose value all nodes of the group must share; "" without a constraint.
func (g *podGroup) topologyKey() string {
	if c := g.object.Spec.SchedulingConstraints; c != nil && len(c.Topology) > 0 {
		return c.Topology[0].Key // the API allows one
	}
	return ""
}

// placements returns the domains of some nodes, nil means all, in which a group may run, sorted by their values: only that of its
// pods on nodes, if it has some.
func (s *loop) placements(h *hierarchy, key string, nodes []*cache.NodeInfo) ([]groupPlacement, error) {
	domain, taken, err := domainOf(h.scheduled(s.cluster), key)
	if err != nil {
		return nil, fmt.Errorf("cannot determine domain for already scheduled pods: %w", err)
	}
	byDomain := map[string]int{}
	var all []groupPlacement
	if nodes == nil {
		nodes = s.cluster.NodeInfos
	}
	for _, n := range nodes {
		value, labeled := n.Node.Labels[key]
		if !labeled || taken && value != domain {
			continue
		}
		i, known := byDomain[value]
		if !known {
			i = len(all)
			byDomain[value] = i
			all = append(all, groupPlacement{domain: value})
		}
		all[i].nodes = append(all[i].nodes, n)
	}
	slices.SortFunc(all, func(a, b groupPlacement) int { return strings.Compare(a.domain, b.domain) })
	return all, nil
}

// domainOf returns the domain of the nodes of pods; false without pods.
func domainOf(pods []*cache.PodInfo, key string) (domain string, taken bool, err error) {
	for _, p := range pods {
		name := p.Pod.Namespace + "/" + p.Pod.Name
		if p.NodeInfo.Node == nil {
			return "", false, fmt.Errorf("getting node for pod %s: node %q not found", name, p.NodeInfo.Name)
		}
		value, labeled := p.NodeInfo.Node.Labels[key]
		switch {
		case !labeled:
			return "", false, fmt.Errorf("no topology domain found for pod %s", name)
		case taken && value != domain:
			return "", false, fmt.Errorf("more than 1 domain found for pod group: %s, %s", domain, value)
		}
		domain, taken = value, true
	}
	return domain, taken, nil
}

// tryGroup tries to place a group, or a hierarchy of them. The caller binds the placed pods, or undoes the trial.
func (s *loop) tryGroup(profile *profile, h *hierarchy) trial {
	defer s.beginTrial(profile)()
	t := s.tryWithin(profile, h, nil)
	if t.failure == nil && !t.rejected && len(t.placed) == 0 {
		t.rejected, t.why = true, unschedulable
		s.markRejected(h, &t)
	}
	return t
}

// tryWithin places a group on some nodes, nil means all.
func (s *loop) tryWithin(profile *profile, h *hierarchy, nodes []*cache.NodeInfo) trial {
	t := s.tryDomains(profile, h, nodes)
	if t.failure == nil && t.rejected {
		s.markRejected(h, &t)
	}
	return t
}

// markRejected gives the reason of a rejected group to the pod groups in it that have no reason of their own.
func (s *loop) markRejected(h *hierarchy, t *trial) {
	for one := range h.leaves {
		if _, known := t.whys[one.leaf]; !known {
			t.whys[one.leaf] = t.why
		}
	}
}

// tryOn places a group on some nodes, without regard to its own constraint.
func (s *loop) tryOn(profile *profile, h *hierarchy, nodes []*cache.NodeInfo) trial {
	if h.leaf != nil {
		return s.tryNodes(profile, h.leaf, h.members, nodes)
	}
	return s.tryChildren(profile, h, nodes)
}

// tryDomains places a group, if it has a constraint in each of its placements, of which it takes the best one in which the group
// fits.
func (s *loop) tryDomains(profile *profile, h *hierarchy, nodes []*cache.NodeInfo) trial {
	key := h.topologyKey()
	if key == "" {
		return s.tryOn(profile, h, nodes)
	}
	none := newTrial()
	all, err := s.placements(h, key, nodes)
	if err != nil {
		none.failure = err
		return none
	}
	if h.leaf != nil {
		profile.Metrics.PlacementsGenerated(len(all))
	}
	if len(all) == 0 {
		none.rejected, none.why, none.by = true, "no feasible placements found", []framework.Filter{topologyPlacement{}}
		return none
	}
	var rejected *trial
	var by []framework.Filter
	var fit []placed
	for _, p := range all {
		start := time.Now()
		t := s.tryOn(profile, h, p.nodes)
		if t.failure != nil {
			return t
		}
		if h.leaf != nil {
			profile.Metrics.PlacementEvaluated(!t.rejected, start)
		}
		if t.rejected {
			for _, f := range t.by {
				if !slices.Contains(by, f) {
					by = append(by, f)
				}
			}
			if s.undoTrial(&t); rejected == nil {
				rejected = &t
			}
			continue
		}
		fit = append(fit, placed{t, len(h.scheduled(s.cluster)), s.allocatedShare(profile, p.nodes)})
		if len(all) > 1 {
			s.undoTrial(&fit[len(fit)-1].trial)
		}
	}
	switch {
	case len(fit) == 0:
		first, _ := strings.CutPrefix(rejected.why, unschedulable+", ")
		rejected.why = fmt.Sprintf("%s, 0/%d placements are available, first placement status: %s", unschedulable, len(all), first)
		rejected.by = append(by, topologyPlacement{})
		return *rejected
	case len(all) == 1:
		return fit[0].trial
	}
	return s.again(best(fit))
}

// placed is a trial in a placement in which the group fits. pods are those of the group that would have nodes there, and
// share is the allocated part of its resources, in percent.
type placed struct {
	trial
	pods  int
	share int64
}

// best returns the placement with the most pods and the largest allocated share, both of which count the same. Of equals it
// returns the first.
func best(fit []placed) trial {
	most := 0
	for i := range fit {
		most = max(most, fit[i].pods)
	}
	score := func(p *placed) int64 { return 100*int64(p.pods)/int64(max(most, 1)) + p.share }
	top := &fit[0]
	for i := range fit {
		if score(&fit[i]) > score(top) {
			top = &fit[i]
		}
	}
	return top.trial
}

// again repeats an undone trial: the pods get the nodes that they had.
func (s *loop) again(of trial) trial {
	for _, p := range of.undone {
		s.profileOf(p.QueuedPodInfo).resume(p)
		taken, err := s.take(p.QueuedPodInfo, s.cluster.Node(p.node), p.attempt)
		if err != nil {
			of.failure = fmt.Errorf("failed to schedule other pod from a pod group: %w", err)
			return of
		}
		of.placed = append(of.placed, taken)
	}
	return of
}

// allocatedShare returns the allocated part of the resources of nodes, which the plugin NodeResourcesFit counts.
func (s *loop) allocatedShare(p *profile, nodes []*cache.NodeInfo) int64 {
	for _, score := range p.Scores {
		if fit, ok := score.Score.(plugins.Allocation); ok {
			return fit.Allocated(nodes)
		}
	}
	return 0
}

// topologyPlacement stands for the constraint in the queue: other nodes and labels may form a domain in which the group fits.
type topologyPlacement struct{}

func (topologyPlacement) Name() string { return "TopologyPlacementGenerator" }

func (topologyPlacement) PreFilter(*cache.Cluster, *cache.PodInfo) (framework.FilterFunc, framework.Status) {
	return nil, framework.Status{}
}

func (topologyPlacement) EventsToRegister() framework.EventKind {
	return framework.NodeAdded | framework.NodeChanged
}

func (topologyPlacement) QueueingHint(*cache.PodInfo, *framework.ClusterEvent) bool { return true }
