package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/client"
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
		if before := res.BeforeBinding; before != nil {
			p.before = append(p.before, func(ctx context.Context) error {
				if err := before(ctx); err != nil {
					return fmt.Errorf("running PreBind plugin %q: %w", f.Name(), err)
				}
				return nil
			})
		}
		if res.Release != nil {
			p.after = append(p.after, res.Release)
		}
	}
	return nil
}

// prepare does what must be done before the binding, then binds, on a goroutine of its
// own: it may take long. Who looks at the pod meanwhile is told which node it is to have.
func (s *Scheduler) prepare(ctx context.Context, p *placement) {
	before, cancel := context.WithCancel(ctx)
	p.cancel = cancel
	s.waits.Go(func() {
		s.expect(before, p)
		for _, f := range p.before {
			if err := f(before); err != nil {
				s.tell(func() { s.unbound(p, err) })
				return
			}
		}
		s.bind(ctx, p)
	})
}

// expect writes onto a pod which node it is to have. It is bound there without that as well.
func (s *Scheduler) expect(ctx context.Context, p *placement) {
	pod := p.info.Pod
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
	info := NewPodInfo(written)
	s.tell(func() {
		if s.assumed[pod.UID] == p && p.latest == nil {
			p.latest = info // whoever takes the placement back knows that there is something to take back
		}
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
	waits := room == nil && s.cluster.mayPreempt(w.info, fit) != "" && w.nominee != "" // for its victims
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
	s.profileOf(w).events.Act(w.info.Pod, nil, corev1.EventTypeWarning, "FailedScheduling", "Scheduling", "%s", note(message))
	s.reports.add(w.info.Pod, reason, message, w.nominee)
}

// longestNote is how many bytes a note of an event may have.
const longestNote = 1024

// note is a message as an event can have it.
func note(message string) string {
	const more = " ..."
	if len(message) > longestNote {
		message = message[:longestNote-len(more)] + more
	}
	return message
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
	s.failed(p.waiting, err)
}
