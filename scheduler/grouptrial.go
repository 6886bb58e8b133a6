package scheduler

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
	"fairlead.dev/internal/scheduler/queue"
)

// A trial is an attempt to place the pods of a group one after another, each as if those before it ran already.
type trial struct {
	placed []*assumedPod // on their nodes in the cluster, with their reservations
	undone []*assumedPod // those that were placed before undoTrial
	// errs has no entry for the members that were placed, or not tried.
	errs map[*queue.QueuedPodInfo]error
	// whys has the pod groups that cannot be scheduled, with the reasons: their own, or those of a group that they are in.
	whys map[*podGroup]string
	// rejected: the group cannot be scheduled, for the reason why; by has the filters. failure is an error that ended the trial.
	rejected bool
	why      string
	by       []framework.Filter
	failure  error
}

// unschedulable is kube-scheduler's reason for a group, unless the count of its pods is the reason.
const unschedulable = "pod group is unschedulable"

func newTrial() trial {
	return trial{errs: map[*queue.QueuedPodInfo]error{}, whys: map[*podGroup]string{}}
}

// tryNodes places the members of a pod group on some nodes, nil means all, until it cannot have its minCount any more.
func (s *loop) tryNodes(profile *profile, g *podGroup, members []*queue.QueuedPodInfo, nodes []*cache.NodeInfo) trial {
	profile.Within = nodes
	defer func() { profile.Within = nil }()
	t := newTrial()
	least, on, rest := g.minCount(), len(g.scheduled(s.cluster)), len(members)
	hopeless := func() bool { return on+rest < least }
	early := hopeless()
	for _, w := range members {
		if hopeless() {
			break
		}
		p, err := s.tryMember(w)
		rest--
		if err == nil {
			t.placed = append(t.placed, p)
			on++
			continue
		}
		t.errs[w] = err
		var fit *framework.FitError
		if !errors.As(err, &fit) {
			t.failure = fmt.Errorf("failed to schedule other pod from a pod group: %w", err)
			return t
		}
		t.add(fit.RejectedBy...)
	}
	if t.rejected = hopeless(); t.rejected {
		t.why = cannot(least, on, rest)
		if early {
			t.why = unschedulable + ", " + t.why
		}
	}
	return t
}

// cannot is kube-scheduler's reason for a group of which not enough can be placed.
func cannot(least, on, rest int) string {
	return fmt.Sprintf("minCount (%d) cannot be satisfied: %d scheduled, %d remaining", least, on, rest)
}

// add adds filters that have rejected a member.
func (t *trial) add(by ...framework.Filter) {
	for _, f := range by {
		if !slices.Contains(t.by, f) {
			t.by = append(t.by, f)
		}
	}
}

// tryChildren places the groups in a group of groups, until it cannot have its minGroupCount any more. A group that does not fit
// takes no room from the next one.
func (s *loop) tryChildren(profile *profile, h *hierarchy, nodes []*cache.NodeInfo) trial {
	t := newTrial()
	least, on, rest := h.minCount(), 0, len(h.children)
	for _, child := range h.children {
		if on+rest < least {
			break
		}
		one := s.tryWithin(profile, child, nodes)
		rest--
		t.add(one.by...)
		maps.Copy(t.errs, one.errs)
		maps.Copy(t.whys, one.whys)
		if one.failure == nil && one.rejected {
			s.undoTrial(&one)
			continue
		}
		t.placed = append(t.placed, one.placed...)
		if one.failure != nil {
			t.failure = fmt.Errorf("composite pod group evaluation failed due to child error: %w", one.failure)
			return t
		}
		on++
	}
	if t.rejected = on+rest < least; t.rejected {
		t.why = cannot(least, on, rest)
	}
	return t
}

// beginTrial lets the members that are placed until end share allocations of devices. Devices that become free meanwhile
// were never taken for good.
func (s *loop) beginTrial(profile *profile) (end func()) {
	devices := cache.DevicesOf(s.cluster)
	devices.BeginTrial()
	s.groups.trying = true
	endGroup := func() {}
	if profile.Extension != nil {
		endGroup = profile.Extension.BeginGroup()
	}
	return func() {
		endGroup()
		s.groups.trying = false
		devices.EndTrial()
	}
}

// tryMember gives a pod its node in the cluster.
func (s *loop) tryMember(w *queue.QueuedPodInfo) (*assumedPod, error) {
	profile := s.profileOf(w)
	n, err := s.choose(w)
	if err != nil {
		return nil, err
	}
	var attempt any
	if profile.Extension != nil {
		attempt = profile.Extension.Attempt()
	}
	return s.take(w, n, attempt)
}

// take makes the reservations for a pod on a node and counts it there. The placeholder of a nominated pod goes.
func (s *loop) take(w *queue.QueuedPodInfo, n *cache.NodeInfo, attempt any) (*assumedPod, error) {
	p := &assumedPod{QueuedPodInfo: w, node: n.Name, attempt: attempt}
	if err := s.reserve(p, n); err != nil {
		return nil, err
	}
	s.cluster.Withdraw(w.PodInfo.Pod.UID)
	s.cluster.AddPod(w.PodInfo, n.Name)
	return p, nil
}

// resume goes on with the attempt for a pod of a group, as far as plugins of another framework take part in it.
func (p *profile) resume(with *assumedPod) {
	if p.Extension != nil {
		p.Extension.Resume(with.attempt)
	}
}

// undoTrial takes the placed pods off their nodes, the last one first, and ends their reservations.
func (s *loop) undoTrial(t *trial) {
	was := s.groups.trying
	s.groups.trying = true
	defer func() { s.groups.trying = was }()
	for _, p := range slices.Backward(t.placed) {
		s.giveUp(p)
	}
	t.undone, t.placed = t.placed, nil
}

// giveUp reverts take.
func (s *loop) giveUp(p *assumedPod) {
	p.undo()
	s.cluster.RemovePod(p.PodInfo.Pod.UID)
	if p.NominatedNode != "" {
		s.cluster.Nominate(p.PodInfo, p.NominatedNode)
	}
}
