package scheduler

import (
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

// updatePod sends changes of a pod that affect its own scheduling or that of others. It parses the
// pod's rules here, on the informer's goroutine.
func (s *loop) updatePod(old, pod *corev1.Pod) {
	ours := s.profiles[pod.Spec.SchedulerName] != nil
	switch {
	case old != nil && unchangedForScheduling(old, pod):
		if pod.Spec.NodeName == "" && ours {
			p := cache.NewPodInfo(pod)
			s.send(func() { s.refreshPending(p) })
		}
		if pod.Spec.NodeName != "" {
			s.send(func() { s.cluster.Renew(pod) })
		}
		return
	}
	switch {
	case isTerminal(pod):
		s.send(func() { s.deletePod(pod) })
	case pod.Spec.NodeName != "":
		p := cache.NewPodInfo(pod)
		s.send(func() { s.addAssigned(p) })
	case pod.DeletionTimestamp != nil || !ours:
		s.send(func() { s.deletePod(pod) })
	default:
		p := cache.NewPodInfo(pod)
		s.send(func() { s.addPending(p) })
	}
}

// unchangedForScheduling reports whether only annotations and status changed, as in most updates of
// pods. The status tells when a pod that is resized has its new size.
func unchangedForScheduling(old, pod *corev1.Pod) bool {
	return old.Spec.NodeName == pod.Spec.NodeName && !cache.IsResizing(old) && !cache.IsResizing(pod) &&
		isTerminal(old) == isTerminal(pod) &&
		(old.DeletionTimestamp == nil) == (pod.DeletionTimestamp == nil) &&
		maps.Equal(old.Labels, pod.Labels) &&
		(old.Generation == pod.Generation && pod.Generation != 0 || apiequality.Semantic.DeepEqual(old.Spec, pod.Spec))
}

func isTerminal(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// addPending adds a pod without a node to the queue.
func (s *loop) addPending(p *cache.PodInfo) {
	s.groups.add(p.Pod)
	if s.updateTaken(p) {
		return
	}
	if node := p.Pod.Status.NominatedNodeName; node != "" && !s.queue.Has(p.Pod.UID) {
		s.queue.AddNominated(p, node, time.Now())
		s.cluster.Nominate(p, node)
		return
	}
	s.queue.AddOrUpdate(p, time.Now())
	s.watchHeldPod(p.Pod)
	if gates := p.Pod.Spec.SchedulingGates; len(gates) > 0 {
		s.reports.add(p.Pod, corev1.PodReasonSchedulingGated, "Scheduling is blocked due to non-empty scheduling gates", "")
	}
}

func (s *loop) refreshPending(p *cache.PodInfo) {
	if !s.updateTaken(p) {
		s.queue.Refresh(p, time.Now())
	}
}

// updateTaken keeps the new version of a pod that has been taken out of the queue; false if it has not.
func (s *loop) updateTaken(p *cache.PodInfo) bool {
	if a := s.assumed[p.Pod.UID]; a != nil {
		a.Latest = p
		return true
	}
	if w := s.asking.taken(p.Pod.UID); w != nil {
		w.Latest = p
		return true
	}
	return false
}

// addAssigned adds a pod with a node to the cluster; often it was assumed there.
func (s *loop) addAssigned(p *cache.PodInfo) {
	s.queue.Delete(p.Pod.UID)
	s.addGroupMember(p.Pod)
	s.stopAsking(p.Pod.UID)
	s.cluster.Withdraw(p.Pod.UID)
	delete(s.assumed, p.Pod.UID)
	old, from := s.cluster.RemovePod(p.Pod.UID)
	s.cluster.AddPod(p, p.Pod.Spec.NodeName)
	now := time.Now()
	if old == nil || from != p.NodeInfo || !maps.Equal(old.Pod.Labels, p.Pod.Labels) {
		s.queue.MoveOnEvent(&framework.ClusterEvent{Kind: framework.PodAdded, Node: p.NodeInfo, Pod: p}, now)
	}
	// It moved or shrank: other pods may fit now. Those that wait for a terminating pod are not tried before it is gone.
	if old != nil && (from != p.NodeInfo || !old.Requests.Equal(&p.Requests)) {
		s.queue.MoveOnEvent(&framework.ClusterEvent{Kind: framework.PodRemoved, Node: from, Pod: old}, now)
	}
}

func (s *loop) deletePod(pod *corev1.Pod) {
	s.groups.remove(pod)
	s.queue.Delete(pod.UID)
	s.stopAsking(pod.UID)
	s.cluster.Withdraw(pod.UID)
	if a := s.assumed[pod.UID]; a != nil && a.cancel != nil {
		a.cancel() // stop waiting for its volumes
	}
	delete(s.assumed, pod.UID)
	if p, n := s.cluster.RemovePod(pod.UID); n != nil {
		s.queue.MoveOnEvent(&framework.ClusterEvent{Kind: framework.PodRemoved, Node: n, Pod: p}, time.Now())
	}
}
