package scheduler

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"fairlead.dev/internal/scheduler/framework"
	"fairlead.dev/internal/scheduler/placement"
	"fairlead.dev/internal/scheduler/queue"
)

// scheduleGroup runs the cycle of a pod group: it gives nodes to all its pods, or at least to as many as a gang needs, or puts
// all of them back. If extenders have to be asked about pods, the group waits for their answers, and the cycle is repeated.
func (s *loop) scheduleGroup(ctx context.Context, e *queue.QueuedPodInfo) {
	h := s.groups.hierarchyOf(e.Group)
	profile := s.profileOf(e.Group.Members[0])
	if err := s.checkGroup(h, e.Group.Members); err != nil {
		s.endGroupAttempt(e)
		s.failGroup(e, h, nil, err)
		return
	}
	t := s.tryGroup(profile, h)
	failure := t.failure
	if failure != nil || t.rejected || s.asking.hasQuestions() {
		s.undoTrial(&t)
	}
	var victims []placement.Unit
	var outcome groupOutcome
	if failure == nil && !s.asking.hasQuestions() {
		profile.Metrics.GroupPlaced(e.Began)
		if t.rejected {
			victims, outcome = s.preemptForGroup(e, h)
			failure = outcome.failure
		}
	}
	if failure == nil && s.asking.hasQuestions() {
		s.askAboutGroup(ctx, e)
		return
	}
	seen := s.endGroupAttempt(e, t.by...)
	switch {
	case failure != nil:
		s.failGroup(e, h, t.errs, failure)
	case t.rejected:
		s.rejectGroup(ctx, e, h, &t, victims, outcome)
		if seen { // an event of which the extenders may not have known
			s.queue.Retry(e.Group.Members[0].PodInfo.Pod.UID, time.Now())
		}
	default:
		s.bindGroup(ctx, e, h, &t)
	}
}

// checkGroup returns why the pods cannot be scheduled as a group. The words are kube-scheduler's.
func (s *loop) checkGroup(h *hierarchy, members []*queue.QueuedPodInfo) error {
	pods := make([]*corev1.Pod, 0, len(members))
	for _, w := range members {
		pods = append(pods, w.PodInfo.Pod)
	}
	for _, p := range h.scheduled(s.cluster) {
		pods = append(pods, p.Pod)
	}
	first := pods[0]
	policy, whose := preemptionOf(first), ""
	if p := h.preemption(); p != nil {
		policy, whose = *p, " as the pod group's preemption policy"
	}
	for _, pod := range pods {
		priority := int32(0)
		if pod.Spec.Priority != nil {
			priority = *pod.Spec.Priority
		}
		switch {
		case pod.Spec.SchedulerName != first.Spec.SchedulerName:
			return fmt.Errorf("all pods in a single pod group should have the same .spec.schedulerName set, got: %q and %q", pod.Spec.SchedulerName, first.Spec.SchedulerName)
		case priority != h.priority():
			return fmt.Errorf("all pods in a single pod group should have the same priority as the pod group's priority, got %d and %d", priority, h.priority())
		case preemptionOf(pod) != policy:
			return fmt.Errorf("all pods in a single pod group should have the same preemption policy%s, got %v and %v", whose, preemptionOf(pod), policy)
		}
	}
	return nil
}

func preemptionOf(pod *corev1.Pod) corev1.PreemptionPolicy {
	if p := pod.Spec.PreemptionPolicy; p != nil {
		return *p
	}
	return corev1.PreemptLowerPriority
}

// bindGroup binds the pods that have been placed. Those that fit nowhere are tried again at once: by then the group has what
// it needs, and others may be preempted for them.
func (s *loop) bindGroup(ctx context.Context, e *queue.QueuedPodInfo, h *hierarchy, t *trial) {
	left := e.Group.Members[:0:0]
	for one := range h.leaves {
		why, rejected := t.whys[one.leaf]
		for _, w := range one.members {
			text := withReason(why)
			if err := t.errs[w]; err != nil {
				text = err.Error()
			} else if !rejected {
				continue
			}
			left = append(left, w)
			s.profileOf(w).Metrics.Unschedulable(w.Began)
			s.report(w, corev1.PodReasonUnschedulable, text)
		}
	}
	for _, p := range t.placed {
		s.profileOf(p.QueuedPodInfo).Metrics.Placed(p.Began)
		s.endPodNomination(p.QueuedPodInfo)
		s.queue.MoveOnEvent(&framework.ClusterEvent{Kind: framework.PodAdded, Node: s.cluster.Node(p.node), Pod: p.PodInfo}, time.Now())
	}
	s.setOutcomes(h, t)
	s.profileOf(t.placed[0].QueuedPodInfo).Metrics.GroupEnded("scheduled", e.Began)
	e.Group.Members, e.Attempts = left, 0
	s.queue.Again(e)
	permitted := s.permitAll(t.placed)
	// From here on mail is read, which may change the queue and the cluster.
	for _, p := range permitted {
		s.beginBinding(ctx, p)
	}
}

// permitAll assumes the placed pods of a group, asks the extension about each, and returns those that may be bound. The others are
// put back.
func (s *loop) permitAll(placed []*assumedPod) (permitted []*assumedPod) {
	for _, p := range placed {
		s.assume(p)
		if profile := s.profileOf(p.QueuedPodInfo); profile.Extension != nil {
			profile.resume(p)
			if err := s.permit(p, s.cluster.Node(p.node)); err != nil {
				s.handleBindingError(p, err)
				continue
			}
		}
		permitted = append(permitted, p)
	}
	return permitted
}

// rejectGroup puts back a group that does not fit, after the search for pods to preempt.
func (s *loop) rejectGroup(ctx context.Context, e *queue.QueuedPodInfo, h *hierarchy, t *trial, victims []placement.Unit, outcome groupOutcome) {
	for _, w := range e.Group.Members {
		var fit *framework.FitError
		if errors.As(t.errs[w], &fit) {
			s.help(ctx, w, s.postFilter(w, fit))
		}
	}
	helps, helped := s.postFilterGroup(e, h)
	message := func(g *podGroup) string {
		return strings.Join(notEmpty(t.whys[g], helped, outcome.message), ", ")
	}
	result := "unschedulable"
	if outcome.waits {
		result = "waiting_on_preemption"
	}
	for one := range h.leaves {
		for _, w := range one.members {
			if !outcome.waits {
				s.endPodNomination(w)
			}
			s.profileOf(w).Metrics.Unschedulable(w.Began)
			text := message(one.leaf)
			switch {
			case t.errs[w] != nil:
				text = t.errs[w].Error()
			case !outcome.waits && h.leaf != nil:
				text = unschedulable + ", " + text
			case !outcome.waits:
				text = withReason(text)
			}
			s.report(w, corev1.PodReasonUnschedulable, text)
		}
	}
	s.setConditions(h, schedulingv1beta1.PodGroupReasonUnschedulable, message)
	s.profileOf(e.Group.Members[0]).Metrics.GroupEnded(result, e.Began)
	s.queue.AddUnschedulable(e, t.by, time.Now())
	s.help(ctx, e.Group.Members[0], helps)
	if len(victims) > 0 {
		from := preemptor{scheduler: e.PodInfo.Pod.Spec.SchedulerName, kind: h.kind(), uid: h.object().GetUID(), object: h.object()}
		var pods []*corev1.Pod
		for _, u := range victims {
			pods = append(pods, evictable(u.Pods)...)
		}
		key := queue.KeyOf(e.Group)
		s.preBinding.Go(func() { s.evictForGroup(ctx, from, key, pods) })
	}
}

// postFilterGroup returns the writes that may help a group, and their description. A group of groups, and one that already has
// pods on nodes, or whose pods have to be near each other, gets no help.
func (s *loop) postFilterGroup(e *queue.QueuedPodInfo, h *hierarchy) (writes []func(context.Context) error, done string) {
	if h.leaf == nil || len(h.scheduled(s.cluster)) > 0 || h.leaf.object.Spec.SchedulingConstraints != nil {
		return nil, ""
	}
	var all []string
	for _, f := range s.profileOf(e.Group.Members[0]).Filters {
		if post, ok := f.(framework.GroupPostFilter); ok {
			if write, did := post.PostFilterGroup(s.cluster, h.leaf.object); write != nil {
				writes, all = append(writes, write), append(all, did)
			}
		}
	}
	return writes, strings.Join(all, ", ")
}

// withReason puts the reason of a group of groups before the details, if they do not begin with it.
func withReason(details string) string {
	if strings.HasPrefix(details, unschedulable) {
		return details
	}
	return unschedulable + ", " + details
}

// notEmpty returns the texts that are not empty.
func notEmpty(texts ...string) (some []string) {
	for _, text := range texts {
		if text != "" {
			some = append(some, text)
		}
	}
	return some
}

// failGroup puts back a group that met an error. A pod with an error of its own reports that.
func (s *loop) failGroup(e *queue.QueuedPodInfo, h *hierarchy, errs map[*queue.QueuedPodInfo]error, err error) {
	for _, w := range e.Group.Members {
		text := err.Error()
		var fit *framework.FitError
		if own := errs[w]; own != nil && !errors.As(own, &fit) {
			text = own.Error()
		}
		s.profileOf(w).Metrics.Failed(w.Began)
		s.report(w, corev1.PodReasonSchedulerError, text)
	}
	s.setConditions(h, schedulingv1beta1.PodGroupReasonSchedulerError, func(*podGroup) string { return err.Error() })
	s.profileOf(e.Group.Members[0]).Metrics.GroupEnded("error", e.Began)
	s.queue.AddAfterError(e, time.Now())
}
