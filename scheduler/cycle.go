package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/client"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
	"fairlead.dev/internal/scheduler/placement"
	"fairlead.dev/internal/scheduler/queue"
)

// schedule gives one pod a node, or puts it back.
func (s *Scheduler) schedule(ctx context.Context, w *queue.QueuedPodInfo) {
	n, err := s.profileOf(w).Place(s.cluster, w.PodInfo)
	if err != nil {
		s.handleUnschedulable(ctx, w, err)
		return
	}
	p := &assumedPod{QueuedPodInfo: w, node: n.Name}
	if err := s.reserve(p, n); err != nil {
		s.handleUnschedulable(ctx, w, err)
		return
	}
	s.endPodNomination(w)
	s.assumed[w.PodInfo.Pod.UID] = p
	s.cluster.AddPod(w.PodInfo, n.Name)
	s.queue.MoveOnEvent(&framework.ClusterEvent{Kind: framework.PodAdded, Node: n, Pod: w.PodInfo}, time.Now())
	if p.preBind != nil {
		s.preBind(ctx, p)
		return
	}
	s.write(ctx, func(ctx context.Context) { s.bind(ctx, p) })
}

func (s *Scheduler) profileOf(w *queue.QueuedPodInfo) *profile {
	return s.profiles[w.PodInfo.Pod.Spec.SchedulerName]
}

// reserve asks the filters that set things aside to do so on n.
func (s *Scheduler) reserve(p *assumedPod, n *cache.NodeInfo) error {
	for _, f := range s.profileOf(p.QueuedPodInfo).Filters {
		r, reserves := f.(framework.Reserver)
		if !reserves {
			continue
		}
		res, v := r.Reserve(s.cluster, p.PodInfo, n)
		if !v.IsSuccess() {
			p.undo()
			return &framework.FitError{Nodes: s.cluster.Len(), PreFilter: v, RejectedBy: []framework.Filter{f}}
		}
		if before := res.PreBind; before != nil {
			p.preBind = append(p.preBind, func(ctx context.Context) error {
				if err := before(ctx); err != nil {
					return fmt.Errorf("running PreBind plugin %q: %w", f.Name(), err)
				}
				return nil
			})
		}
		if res.Release != nil {
			p.release = append(p.release, res.Release)
		}
	}
	return nil
}

// preBind does what must be done before the binding, then binds, on a goroutine of its
// own: it may take long. Who looks at the pod meanwhile is told which node it is to have.
func (s *Scheduler) preBind(ctx context.Context, p *assumedPod) {
	before, cancel := context.WithCancel(ctx)
	p.cancel = cancel
	s.preBinding.Go(func() {
		s.writeNominatedNode(before, p)
		for _, f := range p.preBind {
			if err := f(before); err != nil {
				s.send(func() { s.handleBindingError(p, err) })
				return
			}
		}
		s.bind(ctx, p)
	})
}

// writeNominatedNode writes onto a pod which node it is to have. It is bound there without that as well.
func (s *Scheduler) writeNominatedNode(ctx context.Context, p *assumedPod) {
	pod := p.PodInfo.Pod
	s.reports.cancel(ctx, pod.UID)
	if pod.Status.NominatedNodeName == p.node {
		return
	}
	var written *corev1.Pod
	if err := traced(ctx, s.pods, pod, func(ctx context.Context) (err error) {
		written, err = s.pods.Namespace(pod.Namespace).Patch(ctx, pod.Name, client.StrategicPatch(map[string]any{
			"metadata": map[string]any{"uid": pod.UID},
			"status":   map[string]any{"nominatedNodeName": p.node},
		}).On("status"))
		return err
	}); err != nil {
		return
	}
	info := cache.NewPodInfo(written)
	s.send(func() {
		if s.assumed[pod.UID] == p && p.Latest == nil {
			p.Latest = info // whoever takes the placement back knows that there is something to take back
		}
	})
}

// undo ends what was set aside.
func (p *assumedPod) undo() {
	for _, f := range p.release {
		f()
	}
	p.release = nil
	if p.cancel != nil {
		p.cancel()
	}
}

// write has a worker write something. While it waits for one it reads mail.
func (s *Scheduler) write(ctx context.Context, f func(context.Context)) {
	for {
		select {
		case s.writes <- f:
			return
		case f := <-s.mail:
			f()
		case <-ctx.Done():
			return
		}
	}
}

// handleUnschedulable parks a pod that fits nowhere and says why; or it makes room for it.
func (s *Scheduler) handleUnschedulable(ctx context.Context, w *queue.QueuedPodInfo, err error) {
	var fit *framework.FitError
	if !errors.As(err, &fit) {
		s.handleError(w, err)
		return
	}
	var room *placement.Candidate
	if !s.profileOf(w).NoPreemption && fit.Nodes > 0 {
		room = s.profileOf(w).Preempt(s.cluster, w.PodInfo, fit)
	}
	waits := room == nil && placement.IneligibleToPreempt(s.cluster, w.PodInfo, fit) != "" && w.NominatedNode != "" // for its victims
	if room != nil {
		w.NominatedNode = room.Node.Name
		s.cluster.Nominate(w.PodInfo, w.NominatedNode)
	} else if !waits {
		s.endPodNomination(w)
	}
	s.queue.AddUnschedulable(w, fit.RejectedBy, time.Now())
	s.report(w, corev1.PodReasonUnschedulable, fit.Error())
	if room != nil {
		pod := w.PodInfo.Pod // w is the loop's
		s.write(ctx, func(ctx context.Context) { s.evict(ctx, pod, room) })
	}
}

// endPodNomination ends a pod's nomination.
func (s *Scheduler) endPodNomination(w *queue.QueuedPodInfo) {
	w.NominatedNode = ""
	s.cluster.Withdraw(w.PodInfo.Pod.UID)
}

// handleError puts a pod back that met an error.
func (s *Scheduler) handleError(w *queue.QueuedPodInfo, err error) {
	s.queue.AddAfterError(w, time.Now())
	s.report(w, corev1.PodReasonSchedulerError, err.Error())
}

func (s *Scheduler) report(w *queue.QueuedPodInfo, reason, message string) {
	s.profileOf(w).events.Act(w.PodInfo.Pod, nil, corev1.EventTypeWarning, "FailedScheduling", "Scheduling", "%s", truncateNote(message))
	s.reports.add(w.PodInfo.Pod, reason, message, w.NominatedNode)
}

// maxNoteLength is how many bytes a note of an event may have.
const maxNoteLength = 1024

// truncateNote is a message as an event can have it.
func truncateNote(message string) string {
	const more = " ..."
	if len(message) > maxNoteLength {
		message = message[:maxNoteLength-len(more)] + more
	}
	return message
}

// handleBindingError takes back a placement whose binding failed.
func (s *Scheduler) handleBindingError(p *assumedPod, err error) {
	uid := p.PodInfo.Pod.UID
	if s.assumed[uid] != p {
		p.undo()
		return // confirmed, or deleted, meanwhile
	}
	delete(s.assumed, uid)
	p.undo()
	_, n := s.cluster.RemovePod(uid)
	if n != nil {
		s.queue.MoveOnEvent(&framework.ClusterEvent{Kind: framework.PodRemoved, Node: n, Pod: p.PodInfo}, time.Now())
	}
	if apierrors.IsNotFound(err) {
		return // the watch tells the same
	}
	if p.Latest != nil {
		p.PodInfo, p.Latest = p.Latest, nil
	}
	if apierrors.IsConflict(err) {
		s.queue.AddAfterError(p.QueuedPodInfo, time.Now()) // it may be bound already; the watch will tell
		return
	}
	s.handleError(p.QueuedPodInfo, err)
}
