package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// schedule gives one pod a node, or puts it back.
func (s *Scheduler) schedule(ctx context.Context, w *waiting) {
	n, err := s.placer.place(s.cluster, w.info)
	if err != nil {
		s.unplaced(ctx, w, err)
		return
	}
	p := &placement{w, n.name}
	s.withdraw(w)
	s.assumed[w.info.Pod.UID] = p
	s.cluster.AddPod(w.info, n.name)
	s.queue.happened(&Event{Kind: PodAdded, Node: n, Pod: w.info}, time.Now())
	s.write(ctx, func(ctx context.Context) { s.bind(ctx, p) })
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

// unplaced parks a pod that fits nowhere and says why; or it makes room for it.
func (s *Scheduler) unplaced(ctx context.Context, w *waiting, err error) {
	var fit *FitError
	if !errors.As(err, &fit) {
		s.failed(w, err)
		return
	}
	var room *eviction
	if !s.options.NoPreemption && fit.Nodes > 0 {
		room = s.placer.makeRoom(s.cluster, w.info, fit)
	}
	waits := room == nil && s.cluster.mayPreempt(w.info) != "" && w.nominee != "" // for its victims
	if room != nil {
		w.nominee = room.node.name
		s.cluster.Nominate(w.info, w.nominee)
	} else if !waits {
		s.withdraw(w)
	}
	s.queue.park(w, fit.By, time.Now())
	s.report(w, corev1.PodReasonUnschedulable, fit.Error())
	if room != nil {
		s.write(ctx, func(ctx context.Context) { s.evict(ctx, w.info.Pod, room) })
	}
}

// withdraw ends a pod's nomination.
func (s *Scheduler) withdraw(w *waiting) {
	w.nominee = ""
	s.cluster.Withdraw(w.info.Pod.UID)
}

// failed puts a pod back that met an error.
func (s *Scheduler) failed(w *waiting, err error) {
	s.queue.retry(w, time.Now())
	s.report(w, corev1.PodReasonSchedulerError, err.Error())
}

func (s *Scheduler) report(w *waiting, reason, message string) {
	s.events.Event(w.info.Pod, corev1.EventTypeWarning, "FailedScheduling", "%s", message)
	s.reports.add(w.info.Pod, reason, message, w.nominee)
}

// unbound takes back a placement whose binding failed.
func (s *Scheduler) unbound(p *placement, err error) {
	uid := p.info.Pod.UID
	if s.assumed[uid] != p {
		return // confirmed, or deleted, meanwhile
	}
	delete(s.assumed, uid)
	_, n := s.cluster.RemovePod(uid)
	if n != nil {
		s.queue.happened(&Event{Kind: PodRemoved, Node: n, Pod: p.info}, time.Now())
	}
	if apierrors.IsNotFound(err) {
		return // the watch tells the same
	}
	if p.latest != nil {
		p.info, p.latest = p.latest, nil
	}
	if apierrors.IsConflict(err) {
		s.queue.retry(p.waiting, time.Now()) // it may be bound already; the watch will tell
		return
	}
	s.failed(p.waiting, fmt.Errorf("binding to %s: %w", p.node, err))
}
