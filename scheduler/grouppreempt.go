package scheduler

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/metrics"
	"fairlead.dev/internal/scheduler/placement"
	"fairlead.dev/internal/scheduler/queue"
)

// groupOutcome is the result of a search for pods to preempt for a group. waits: the group waits for its victims to leave.
type groupOutcome struct {
	message    string
	waits      bool
	failure    error // which ended the search
	status     metrics.Status
	violations int // of disruption budgets
}

// unitOf returns what a pod is evicted with.
func (s *loop) unitOf(p *cache.PodInfo) placement.Unit {
	u := placement.Unit{Key: string(p.Pod.UID), Pods: []*cache.PodInfo{p}, Priority: p.Priority}
	key, ok := queue.GroupOf(p.Pod)
	if !ok {
		return u
	}
	g := s.groups.byKey[key]
	if g == nil || g.object == nil {
		return u
	}
	u.Grouped, u.Priority = true, g.priority()
	if mode := g.object.Spec.DisruptionMode; mode != nil && mode.All != nil {
		u.Key, u.Pods = "group "+key.String(), g.scheduled(s.cluster)
	}
	up, _ := s.groups.ancestors(key)
	for _, c := range up { // the highest group whose mode is All counts, and the priority of the root
		u.Priority = c.priority()
		if mode := c.object.Spec.DisruptionMode; mode != nil && mode.All != nil {
			u.Composite, u.Key, u.Pods = true, "composite "+key.Namespace+"/"+c.object.Name, nil
			s.groups.below(c, map[*composite]bool{}, func(group types.NamespacedName) {
				u.Pods = append(u.Pods, s.groups.byKey[group].scheduled(s.cluster)...)
			})
		}
	}
	return u
}

// preemptForGroup looks for pods of a lower priority, anywhere in the cluster, without which the group fits. It nominates the
// group's pods to their nodes. If questions to extenders have come up, there is no result yet.
func (s *loop) preemptForGroup(e *queue.QueuedPodInfo, h *hierarchy) (victims []placement.Unit, o groupOutcome) {
	members := e.Group.Members
	profile := s.profileOf(members[0])
	if profile.NoPreemption {
		return nil, o
	}
	defer func() {
		if o.message != "" {
			o.message = "pod group preemption: " + o.message
		}
		if !s.asking.hasQuestions() {
			profile.Metrics.GroupPreempted(o.status)
		}
	}()
	for _, w := range members {
		if preemptionOf(w.PodInfo.Pod) == corev1.PreemptNever {
			return nil, groupOutcome{message: "not eligible due to preemptionPolicy=Never.", status: metrics.Rejected}
		}
	}
	if s.groupWaits(members, h.priority()) {
		return nil, groupOutcome{message: "ongoing preemption on nominated nodes", waits: true}
	}
	start := time.Now()
	victims, o = s.victimsForGroup(profile, members, h)
	if s.asking.hasQuestions() {
		return nil, o
	}
	profile.Metrics.PreemptionSearched(metrics.ByGroup, o.status, start)
	if o.waits {
		pods, groups := 0, 0
		for _, u := range victims {
			if pods += len(u.Pods); u.Grouped {
				groups++
			}
		}
		o.message = fmt.Sprintf("found a placement for podgroup, preempting %d victims", pods)
		profile.Metrics.GroupVictims(pods, groups, o.violations)
	}
	return victims, o
}

// victimsForGroup is the search of preemptForGroup.
func (s *loop) victimsForGroup(profile *profile, members []*queue.QueuedPodInfo, h *hierarchy) (victims []placement.Unit, o groupOutcome) {
	units := profile.UnitsBelow(h.priority(), cache.PodsOn(s.cluster))
	if len(units) == 0 {
		return nil, groupOutcome{message: "No preemption victims found for incoming preemptor", status: metrics.RejectedForGood}
	}
	apart := true
	nominated := make([]string, len(members))
	for i, w := range members {
		nominated[i] = w.NominatedNode
		s.endPodNomination(w)
		apart = apart && profile.LooksAtNodesAlone(s.cluster, w.PodInfo)
	}
	away := placement.TakeAway(s.cluster, units)
	t := s.tryGroup(profile, h)
	if t.failure != nil || t.rejected || s.asking.hasQuestions() {
		s.undoTrial(&t)
		for _, u := range units {
			away.Back(u)
		}
		switch {
		case t.failure != nil:
			return nil, groupOutcome{failure: fmt.Errorf("error in %q PodGroupPostFilter plugins: pod group preemption: %w", "DefaultPreemption", t.failure), status: metrics.Failed}
		case s.asking.hasQuestions():
			for i, w := range members {
				s.nominate(w, nominated[i])
			}
			return nil, o
		}
		return nil, groupOutcome{message: t.why, status: metrics.Rejected}
	}
	placed := t.placed
	s.undoTrial(&t)
	byNode := map[string][]*assumedPod{}
	for _, p := range placed {
		byNode[p.node] = append(byNode[p.node], p)
	}
	victims, o.violations = away.Reprieve(units, func(back placement.Unit) bool {
		if !apart {
			return s.fitsAgain(profile, placed)
		}
		return !slices.ContainsFunc(back.Pods, func(p *cache.PodInfo) bool { return !s.fitsAgain(profile, byNode[p.NodeInfo.Name]) })
	})
	for _, u := range victims {
		away.Back(u)
	}
	for _, p := range placed {
		s.nominate(p.QueuedPodInfo, p.node)
	}
	o.waits = true
	return victims, o
}

// nominate makes a node the one on which a pod waits for its victims to leave, unless it is empty.
func (s *loop) nominate(w *queue.QueuedPodInfo, node string) {
	if w.NominatedNode = node; node != "" {
		s.cluster.Nominate(w.PodInfo, node)
	}
}

// groupWaits reports whether a victim of an earlier preemption is still leaving a node to which a member is nominated.
func (s *loop) groupWaits(members []*queue.QueuedPodInfo, priority int32) bool {
	for _, w := range members {
		if w.NominatedNode == "" {
			continue
		}
		n := s.cluster.Node(w.NominatedNode)
		if n == nil {
			continue
		}
		for _, p := range n.Pods {
			if p.Terminating && p.Nominee == nil && s.unitOf(p).Priority < priority && placement.IsPreempted(p.Pod) {
				return true
			}
		}
	}
	return false
}

// fitsAgain reports whether pods still fit on the nodes that a trial chose, one after another. It leaves the cluster as it was.
func (s *loop) fitsAgain(profile *profile, placed []*assumedPod) bool {
	var again trial
	defer func() { s.undoTrial(&again) }()
	defer s.beginTrial(profile)()
	for _, p := range placed {
		n := s.cluster.Node(p.node)
		profile.resume(p)
		if n == nil || !profile.Fits(s.cluster, p.PodInfo, n) {
			return false
		}
		taken, err := s.take(p.QueuedPodInfo, n, p.attempt)
		if err != nil {
			return false
		}
		again.placed = append(again.placed, taken)
	}
	return true
}

// evictForGroup evicts the victims of a group. If that fails, the group is tried again.
func (s *loop) evictForGroup(ctx context.Context, from preemptor, key queue.GroupKey, victims []*corev1.Pod) {
	start, err := time.Now(), error(nil)
	defer func() { s.profiles[from.scheduler].Metrics.Evicted(metrics.ByGroup, err, start) }()
	for _, victim := range victims {
		if err = s.evictOne(ctx, from, victim, "cluster"); err != nil && ctx.Err() == nil {
			s.send(func() { s.queue.WakeGroup(key, "ForceActivate", time.Now()) })
			return
		}
	}
}
