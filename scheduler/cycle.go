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
	n, err := s.profileOf(w).place(s.cluster, w.info)
	if err != nil {
		s.unplaced(ctx, w, err)
		return
	}
	p := &placement{waiting: w, node: n.name}
	if err := s.reserve(p, n); err != nil {
		s.unplaced(ctx, w, err)
		return
	}
	s.withdraw(w)
	s.assumed[w.info.Pod.UID] = p
	s.cluster.AddPod(w.info, n.name)
	s.queue.happened(&Event{Kind: PodAdded, Node: n, Pod: w.info}, time.Now())
	if p.before != nil {
		s.prepare(ctx, p)
		return
	}
	s.write(ctx, func(ctx context.Context) { s.bind(ctx, p) })
}

func (s *Scheduler) profileOf(w *waiting) *profile { return s.profiles[w.info.Pod.Spec.SchedulerName] }

// reserve asks the filters that set things aside to do so on n.
func (s *Scheduler) reserve(p *placement, n *NodeInfo) error {
	for _, f := range s.profileOf(p.waiting).Filters {
		r, reserves := f.(Reserver)
		if !reserves {
			continue
		}
		res, v := r.Reserve(s.cluster, p.info, n)
		if !v.Fits() {
			p.released()
			return &FitError{Nodes: s.cluster.Len(), Pod: v, By: []Filter{f}}
		}
		if res.BeforeBinding != nil {
			p.before = append(p.before, res.BeforeBinding)
		}
		if res.Release != nil {
			p.after = append(p.after, res.Release)
		}
	}
	return nil
}

// prepare does what must be done before the binding, then binds, on a goroutine of its
// own: it may take long.
func (s *Scheduler) prepare(ctx context.Context, p *placement) {
	before, cancel := context.WithCancel(ctx)
	p.cancel = cancel
	s.waits.Go(func() {
		for _, f := range p.before {
			if err := f(before); err != nil {
				s.tell(func() { s.unbound(p, err) })
				return
			}
		}
		s.bind(ctx, p)
	})
}

// released ends what was set aside.
func (p *placement) released() {
	for _, f := range p.after {
		f()
	}
	p.after = nil
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

// unplaced parks a pod that fits nowhere and says why; or it makes room for it.
func (s *Scheduler) unplaced(ctx context.Context, w *waiting, err error) {
	var fit *FitError
	if !errors.As(err, &fit) {
		s.failed(w, err)
		return
	}
	var room *eviction
	if !s.profileOf(w).NoPreemption && fit.Nodes > 0 {
		room = s.profileOf(w).makeRoom(s.cluster, w.info, fit)
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
		pod := w.info.Pod // w is the loop's
		s.write(ctx, func(ctx context.Context) { s.evict(ctx, pod, room) })
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
	s.profileOf(w).events.Event(w.info.Pod, corev1.EventTypeWarning, "FailedScheduling", "%s", message)
	s.reports.add(w.info.Pod, reason, message, w.nominee)
}

// unbound takes back a placement whose binding failed.
func (s *Scheduler) unbound(p *placement, err error) {
	uid := p.info.Pod.UID
	if s.assumed[uid] != p {
		p.released()
		return // confirmed, or deleted, meanwhile
	}
	delete(s.assumed, uid)
	p.released()
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
