package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/internal/scheduler/framework"
	"fairlead.dev/internal/scheduler/metrics"
	"fairlead.dev/internal/scheduler/placement"
	"fairlead.dev/internal/scheduler/queue"
)

// handleUnschedulable preempts pods for a pod that fits no node, or moves it to unschedulable pods
// and reports the reasons.
func (s *loop) handleUnschedulable(ctx context.Context, w *queue.QueuedPodInfo, err error) {
	var fit *framework.FitError
	if !errors.As(err, &fit) {
		s.handleError(w, err)
		return
	}
	helps := s.postFilter(w, fit)
	var room *placement.Candidate
	var rooms []*placement.Candidate // of which extenders choose
	rescue := s.rescue(w, fit, false)
	if !s.profileOf(w).NoPreemption && fit.Nodes > 0 && !fit.Chosen && !rescue.Done {
		if room, rooms = s.preempt(w, fit); room == nil && rooms == nil {
			rescue = s.rescue(w, fit, true)
		}
	}
	waits := room == nil && placement.IneligibleToPreempt(s.cluster, w.PodInfo, fit) != "" && w.NominatedNode != "" // for its victims
	switch {
	case room != nil:
		s.nominate(w, room.Node.Name)
	case rescue.Node != "":
		s.nominate(w, rescue.Node)
	case !waits && !rescue.Keep:
		s.endPodNomination(w)
	}
	s.profileOf(w).Metrics.Unschedulable(w.Began)
	s.queue.AddUnschedulable(w, fit.RejectedBy, time.Now())
	s.report(w, corev1.PodReasonUnschedulable, fit.Error())
	s.help(ctx, w, helps)
	if rooms != nil {
		s.consultOnPreemption(ctx, w.PodInfo, fit.Error(), rooms)
	}
	if room != nil {
		s.evictLater(ctx, w.PodInfo.Pod, room)
	}
}

// postFilter returns the writes that may help a pod which filters have rejected.
func (s *loop) postFilter(w *queue.QueuedPodInfo, fit *framework.FitError) (writes []func(context.Context) error) {
	if !fit.PreFilter.IsSuccess() || fit.Chosen {
		return nil
	}
	for _, f := range fit.RejectedBy {
		if post, ok := f.(framework.PostFilter); ok {
			if write, done := post.PostFilter(s.cluster, w.PodInfo); write != nil {
				writes, fit.PostFilter = append(writes, write), append(fit.PostFilter, done)
			}
		}
	}
	return writes
}

// help makes the writes of postFilter. If one fails, the pod is tried again.
func (s *loop) help(ctx context.Context, w *queue.QueuedPodInfo, writes []func(context.Context) error) {
	uid := w.PodInfo.Pod.UID
	for _, write := range writes {
		s.preBinding.Go(func() {
			if write(ctx) != nil {
				s.send(func() { s.queue.Retry(uid, time.Now()) })
			}
		})
	}
}

// preempt looks for a node that fits the pod after evictions, or returns nil. If extenders have a say in it, it returns
// the candidates for them.
func (s *loop) preempt(w *queue.QueuedPodInfo, fit *framework.FitError) (room *placement.Candidate, rooms []*placement.Candidate) {
	profile, start := s.profileOf(w), time.Now()
	rooms = profile.Candidates(s.cluster, w.PodInfo, fit)
	found := metrics.Success
	if len(rooms) == 0 {
		found = metrics.Rejected
	}
	profile.Metrics.PreemptionSearched(metrics.ByPod, found, start)
	if len(rooms) == 0 {
		profile.Metrics.Ran(metrics.PostFilter, metrics.Rejected, start)
		profile.Metrics.Preempted(false, 0)
		return nil, nil
	}
	profile.Metrics.Ran(metrics.PostFilter, metrics.Success, start)
	if s.preemptsByExtender(w.PodInfo.Pod) {
		return nil, rooms
	}
	room = placement.Best(rooms)
	profile.Metrics.Preempted(true, len(room.Victims))
	profile.Metrics.BudgetsViolated(metrics.ByPod, room.Violations)
	fit.Preemption = preempts(room)
	return room, nil
}

// preempts describes a preemption, worded like kube-scheduler's.
func preempts(room *placement.Candidate) string {
	return fmt.Sprintf("preemption: found a potential placement for pod on node %s, preempting %d victims", room.Node.Name, len(room.Victims))
}

// endPodNomination ends a pod's nomination.
func (s *loop) endPodNomination(w *queue.QueuedPodInfo) {
	w.NominatedNode = ""
	s.cluster.Withdraw(w.PodInfo.Pod.UID)
}

// handleError puts a pod back after an error.
func (s *loop) handleError(w *queue.QueuedPodInfo, err error) {
	s.profileOf(w).Metrics.Failed(w.Began)
	s.queue.AddAfterError(w, time.Now())
	s.report(w, corev1.PodReasonSchedulerError, err.Error())
}

func (s *loop) report(w *queue.QueuedPodInfo, reason, message string) {
	s.profileOf(w).events.Act(w.PodInfo.Pod, nil, corev1.EventTypeWarning, "FailedScheduling", "Scheduling", "%s", truncateNote(message))
	s.reports.add(w.PodInfo.Pod, reason, message, w.NominatedNode)
}

// maxNoteLength is the maximum length of an event's note, in bytes.
const maxNoteLength = 1024

// truncateNote shortens a message to the length of an event's note.
func truncateNote(message string) string {
	const more = " ..."
	if len(message) > maxNoteLength {
		message = message[:maxNoteLength-len(more)] + more
	}
	return message
}

// handleBindingError reverts an assumed pod whose binding failed.
func (s *loop) handleBindingError(p *assumedPod, err error) {
	uid := p.PodInfo.Pod.UID
	if s.assumed[uid] != p {
		p.undo()
		s.queue.Unwatch(p.QueuedPodInfo)
		return // confirmed or deleted meanwhile
	}
	delete(s.assumed, uid)
	s.groups.assume(p.PodInfo.Pod, "")
	p.undo()
	_, n := s.cluster.RemovePod(uid)
	if n != nil {
		s.queue.MoveOnEvent(&framework.ClusterEvent{Kind: framework.PodRemoved, Node: n, Pod: p.PodInfo}, time.Now())
	}
	var fit *framework.FitError
	rejected := errors.As(err, &fit)
	seen := s.queue.Unwatch(p.QueuedPodInfo, rejectedBy(fit)...)
	if apierrors.IsNotFound(err) {
		return // the watch reports the deletion
	}
	if p.Latest != nil {
		p.PodInfo, p.Latest = p.Latest, nil
	}
	if apierrors.IsConflict(err) {
		s.profileOf(p.QueuedPodInfo).Metrics.Failed(p.Began)
		s.queue.AddAfterError(p.QueuedPodInfo, time.Now()) // it may be bound already, which the watch reports
		return
	}
	if !rejected {
		s.handleError(p.QueuedPodInfo, err)
		return
	}
	s.profileOf(p.QueuedPodInfo).Metrics.Unschedulable(p.Began)
	s.queue.AddUnschedulable(p.QueuedPodInfo, fit.RejectedBy, time.Now())
	s.report(p.QueuedPodInfo, corev1.PodReasonUnschedulable, fit.Error())
	if seen { // an event that came while it waited
		s.queue.Retry(uid, time.Now())
	}
}

func rejectedBy(e *framework.FitError) []framework.Filter {
	if e == nil {
		return nil
	}
	return e.RejectedBy
}
