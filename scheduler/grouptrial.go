package scheduler

import (
	"errors"
	"fmt"
	"slices"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
	"fairlead.dev/internal/scheduler/queue"
)

// A trial is an attempt to place the pods of a group one after another, each as if those before it ran already.
type trial struct {
	placed []*assumedPod // on their nodes in the cluster, with their reservations
	undone []*assumedPod // those that were placed before undoTrial
	errs   []error       // by member; nil for those placed, and those that were not tried
	// rejected: the group cannot be scheduled, for the reason why; by has the filters. failure is an error that ended the trial.
	rejected bool
	why      string
	by       []framework.Filter
	failure  error
}

// unschedulable is kube-scheduler's reason for a group, unless the count of its pods is the reason.
const unschedulable = "pod group is unschedulable"

// tryNodes places members on some nodes, nil means all, until the group cannot have its minCount any more.
func (s *Scheduler) tryNodes(g *podGroup, members []*queue.QueuedPodInfo, nodes []*cache.NodeInfo) trial {
	profile := s.profileOf(members[0])
	profile.Within = nodes
	defer func() { profile.Within = nil }()
	t := trial{errs: make([]error, len(members))}
	least, on, rest := g.minCount(), len(g.scheduled(s.cluster)), len(members)
	hopeless := func() bool { return on+rest < least }
	early := hopeless()
	for i, w := range members {
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
		t.errs[i] = err
		var fit *framework.FitError
		if !errors.As(err, &fit) {
			t.failure = fmt.Errorf("failed to schedule other pod from a pod group: %w", err)
			return t
		}
		for _, f := range fit.RejectedBy {
			if !slices.Contains(t.by, f) {
				t.by = append(t.by, f)
			}
		}
	}
	t.rejected = hopeless() || len(t.placed) == 0
	switch {
	case hopeless():
		t.why = fmt.Sprintf("minCount (%d) cannot be satisfied: %d scheduled, %d remaining", least, on, rest)
		if early {
			t.why = unschedulable + ", " + t.why
		}
	case t.rejected:
		t.why = unschedulable
	}
	return t
}

// beginTrial lets the members that are placed until end share allocations of devices. Devices that become free meanwhile
// were never taken for good.
func (s *Scheduler) beginTrial() (end func()) {
	devices := cache.DevicesOf(s.cluster)
	devices.BeginTrial()
	s.groups.trying = true
	return func() {
		s.groups.trying = false
		devices.EndTrial()
	}
}

// tryMember gives a pod its node in the cluster.
func (s *Scheduler) tryMember(w *queue.QueuedPodInfo) (*assumedPod, error) {
	n, err := s.profileOf(w).Place(s.cluster, w.PodInfo)
	if err != nil {
		return nil, err
	}
	return s.take(w, n)
}

// take makes the reservations for a pod on a node and counts it there. The placeholder of a nominated pod goes.
func (s *Scheduler) take(w *queue.QueuedPodInfo, n *cache.NodeInfo) (*assumedPod, error) {
	p := &assumedPod{QueuedPodInfo: w, node: n.Name}
	if err := s.reserve(p, n); err != nil {
		return nil, err
	}
	s.cluster.Withdraw(w.PodInfo.Pod.UID)
	s.cluster.AddPod(w.PodInfo, n.Name)
	return p, nil
}

// undoTrial takes the placed pods off their nodes, the last one first, and ends their reservations.
func (s *Scheduler) undoTrial(t *trial) {
	was := s.groups.trying
	s.groups.trying = true
	defer func() { s.groups.trying = was }()
	for _, p := range slices.Backward(t.placed) {
		s.giveUp(p)
	}
	t.undone, t.placed = t.placed, nil
}

// giveUp reverts take.
func (s *Scheduler) giveUp(p *assumedPod) {
	p.undo()
	s.cluster.RemovePod(p.PodInfo.Pod.UID)
	if p.NominatedNode != "" {
		s.cluster.Nominate(p.PodInfo, p.NominatedNode)
	}
}
