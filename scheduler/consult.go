package scheduler

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/extenders"
	"fairlead.dev/internal/scheduler/framework"
)

// interested returns the extenders that are interested in a pod.
func (s *loop) interested(pod *corev1.Pod) (all []*Extender) {
	for _, e := range s.options.Extenders {
		if e.IsInterested(pod) && (e.FilterVerb != "" || e.PrioritizeVerb != "") {
			all = append(all, e)
		}
	}
	return all
}

// consult asks the extenders about a pod, now or in its turn.
func (s *loop) consult(ctx context.Context, q *question) {
	s.asking.waiting = append(s.asking.waiting, q)
	s.askNext(ctx)
}

// askNext asks about the next pod, unless extenders are being asked.
func (s *loop) askNext(ctx context.Context) {
	for s.asking.now == nil {
		q := s.asking.next()
		if q == nil {
			return
		}
		if q.group != nil || s.prepare(ctx, q) {
			s.ask(ctx, q)
		}
	}
}

// prepare finds the feasible nodes of a pod that the extenders have not refused. It puts back a pod without any, and reports false then.
func (s *loop) prepare(ctx context.Context, q *question) bool {
	w := q.QueuedPodInfo
	if w.Latest != nil {
		w.PodInfo, w.Latest = w.Latest, nil
	}
	if !unchangedForScheduling(q.pod, w.PodInfo.Pod) {
		q.verdict = extenders.Verdict{}
	}
	s.asking.plugin = extenders.Plugin{Verdict: &q.verdict, Open: true}
	fit, err := s.profileOf(w).Feasible(s.cluster, w.PodInfo)
	s.asking.plugin = extenders.Plugin{}
	if err != nil {
		s.handleUnschedulable(ctx, w, err)
		s.retryIfSeen(q)
		return false
	}
	q.pod, q.nodes = w.PodInfo.Pod, make([]*corev1.Node, len(fit))
	for i, n := range fit {
		q.nodes[i] = n.Node
	}
	s.queue.Watch(w, s.profileOf(w).Filters)
	return true
}

// ask asks the extenders about a pod.
func (s *loop) ask(ctx context.Context, q *question) {
	all := s.interested(q.pod)
	calls, cancel := context.WithCancel(ctx)
	s.asking.now, s.asking.cancel = q, cancel
	s.preBinding.Go(func() {
		defer cancel()
		v, err := extenders.Consult(calls, all, q.pod, q.nodes, s.log)
		s.send(func() { s.consulted(ctx, q, v, err) })
	})
}

// consulted goes on with a pod, or its group, when the extenders have answered, and asks about the next one.
func (s *loop) consulted(ctx context.Context, q *question, v *extenders.Verdict, err error) {
	w, dropped := q.QueuedPodInfo, s.asking.now != q
	if !dropped {
		s.asking.now = nil
	}
	switch {
	case q.group == nil:
		q.seen = s.queue.Unwatch(w, s.profileOf(w).Filters...) || q.seen
		if !dropped {
			s.decide(ctx, q, v, err)
			s.retryIfSeen(q)
		}
	case !dropped:
		s.answered(q, v, err)
	}
	s.askNext(ctx)
}

// retryIfSeen has a pod that was rejected tried again if an event came after the extenders were asked, of which they may not have known.
func (s *loop) retryIfSeen(q *question) {
	if q.seen {
		s.queue.Retry(q.PodInfo.Pod.UID, time.Now())
	}
}

// decide places a pod by a verdict, or asks about further nodes. A pod that has become another one meanwhile is tried again.
func (s *loop) decide(ctx context.Context, q *question, v *extenders.Verdict, err error) {
	w := q.QueuedPodInfo
	old := w.PodInfo.Pod
	if w.Latest != nil {
		w.PodInfo, w.Latest = w.Latest, nil
	}
	switch {
	case !unchangedForScheduling(old, w.PodInfo.Pod):
		s.queue.Again(w)
	case err != nil:
		s.handleError(w, err)
	default:
		if q.verdict.Add(v); !s.place(ctx, w, &q.verdict) {
			s.consult(ctx, q)
		}
	}
}

// isStale reports whether an attempt has failed because the extenders were not asked about the nodes that fit now.
func isStale(err error) bool {
	var fit *framework.FitError
	return errors.As(err, &fit) && extenders.Stale(fit)
}

// stopAsking forgets a pod that was deleted, or bound by others.
func (s *loop) stopAsking(uid types.UID) {
	delete(s.asking.answers, uid)
	s.dropQuestions(func(q *question) bool { return q.pod.UID == uid })
}

// bindByExtender binds a pod by the first extender that binds pods like it, and reports whether there is such an extender.
func (s *loop) bindByExtender(ctx context.Context, p *assumedPod) (bound bool, err error) {
	for _, e := range s.options.Extenders {
		if e.BindVerb == "" || !e.IsInterested(p.PodInfo.Pod) {
			continue
		}
		err := e.Bind(ctx, p.PodInfo.Pod, p.node)
		if err == nil || !e.Ignores(err, p.PodInfo.Pod, s.log) {
			return true, err
		}
	}
	return false, nil
}

// podOn returns a pod of a node by its UID.
func podOn(c *cache.Cluster, node, uid string) *cache.PodInfo {
	if n := c.Node(node); n != nil {
		return n.Pods[types.UID(uid)]
	}
	return nil
}
