package scheduler

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/extenders"
	"fairlead.dev/internal/scheduler/metrics"
	"fairlead.dev/internal/scheduler/placement"
)

// preemptsByExtender reports whether extenders have a say in a preemption for a pod.
func (s *loop) preemptsByExtender(pod *corev1.Pod) bool { return len(s.preempting(pod)) > 0 }

func (s *loop) preempting(pod *corev1.Pod) (all []*Extender) {
	for _, e := range s.options.Extenders {
		if e.PreemptVerb != "" && e.IsInterested(pod) {
			all = append(all, e)
		}
	}
	return all
}

// consultOnPreemption lets extenders choose among the candidates of a preemption. The pod waits among the unschedulable pods
// meanwhile; reasons is its condition's message.
func (s *loop) consultOnPreemption(ctx context.Context, p *cache.PodInfo, reasons string, rooms []*placement.Candidate) {
	nodes, onNode := map[string]extenders.Victims{}, map[string]*corev1.Pod{}
	for _, room := range rooms {
		v := extenders.Victims{Violations: int64(room.Violations)}
		for _, victim := range room.Victims {
			v.Pods = append(v.Pods, victim.Pod)
		}
		nodes[room.Node.Name] = v
		for uid, other := range room.Node.Pods {
			onNode[room.Node.Name+"/"+string(uid)] = other.Pod
		}
	}
	all := s.preempting(p.Pod)
	s.preBinding.Go(func() {
		left, err := extenders.Preempt(ctx, all, p.Pod, nodes, func(node, uid string) *corev1.Pod { return onNode[node+"/"+uid] }, s.log)
		s.send(func() {
			if err != nil && s.queue.Has(p.Pod.UID) {
				s.reports.add(p.Pod, corev1.PodReasonUnschedulable, reasons+" preemption: "+err.Error(), "")
			}
			s.preemptChosen(ctx, p, reasons, left)
		})
	})
}

// preemptChosen evicts the victims on the best node that extenders have left, if the pod still waits and the node is as it was.
func (s *loop) preemptChosen(ctx context.Context, p *cache.PodInfo, reasons string, left map[string]extenders.Victims) {
	var rooms []*placement.Candidate
	for node, v := range left {
		room := &placement.Candidate{Node: s.cluster.Node(node), Violations: int(v.Violations)}
		for _, victim := range v.Pods {
			if found := podOn(s.cluster, node, string(victim.UID)); found != nil {
				room.Victims = append(room.Victims, found)
			}
		}
		if room.Node != nil && len(room.Victims) == len(v.Pods) {
			rooms = append(rooms, room)
		}
	}
	room := placement.Best(rooms)
	count := s.profiles[p.Pod.Spec.SchedulerName].Metrics
	if room == nil || !s.queue.Nominate(p.Pod.UID, room.Node.Name) {
		count.Preempted(false, 0)
		if room == nil && len(left) > 0 {
			s.queue.Retry(p.Pod.UID, time.Now()) // the cluster has changed
		}
		return
	}
	count.Preempted(true, len(room.Victims))
	count.BudgetsViolated(metrics.ByPod, room.Violations)
	s.cluster.Nominate(p, room.Node.Name)
	s.reports.add(p.Pod, corev1.PodReasonUnschedulable, reasons+" "+preempts(room), room.Node.Name)
	s.evictLater(ctx, p.Pod, room)
}
