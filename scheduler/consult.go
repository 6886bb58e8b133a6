package scheduler

import (
	"context"
	"errors"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/extenders"
	"fairlead.dev/internal/scheduler/framework"
	"fairlead.dev/internal/scheduler/queue"
)

// asking has the pods about which extenders are asked. They are asked about one pod at a time, as by kube-scheduler, so that
// an extender hears of a pod only after the pods before it have their nodes. Pods that concern no extender do not wait.
type asking struct {
	plugin  extenders.Plugin
	now     *queue.QueuedPodInfo // nil if no extender is being asked
	cancel  context.CancelFunc   // ends the calls about now
	waiting []*queue.QueuedPodInfo
}

// about returns the pod of a UID; nil without one.
func (a *asking) about(uid types.UID) *queue.QueuedPodInfo {
	if a.now != nil && a.now.PodInfo.Pod.UID == uid {
		return a.now
	}
	if i := a.index(uid); i >= 0 {
		return a.waiting[i]
	}
	return nil
}

func (a *asking) index(uid types.UID) int {
	return slices.IndexFunc(a.waiting, func(w *queue.QueuedPodInfo) bool { return w.PodInfo.Pod.UID == uid })
}

// drop forgets a pod that was deleted, or bound by others.
func (a *asking) drop(uid types.UID) {
	if a.now != nil && a.now.PodInfo.Pod.UID == uid {
		a.cancel()
		a.now = nil
	} else if i := a.index(uid); i >= 0 {
		a.waiting = slices.Delete(a.waiting, i, i+1)
	}
}

// pods returns the number of the pods.
func (a *asking) pods() int {
	if a.now == nil {
		return len(a.waiting)
	}
	return 1 + len(a.waiting)
}

// next takes out the waiting pod of the highest priority that has waited longest, or nil.
func (a *asking) next() *queue.QueuedPodInfo {
	if len(a.waiting) == 0 {
		return nil
	}
	first := 0
	for i, w := range a.waiting {
		if w.PodInfo.Priority > a.waiting[first].PodInfo.Priority {
			first = i
		}
	}
	w := a.waiting[first]
	a.waiting = slices.Delete(a.waiting, first, first+1)
	return w
}

// interested returns the extenders that are interested in a pod.
func (s *Scheduler) interested(pod *corev1.Pod) (all []*Extender) {
	for _, e := range s.options.Extenders {
		if e.IsInterested(pod) && (e.FilterVerb != "" || e.PrioritizeVerb != "") {
			all = append(all, e)
		}
	}
	return all
}

// consult asks the extenders about a pod, now or in its turn.
func (s *Scheduler) consult(ctx context.Context, w *queue.QueuedPodInfo) {
	s.asking.waiting = append(s.asking.waiting, w)
	s.askNext(ctx)
}

// askNext asks about the next pod, unless extenders are being asked. A pod without feasible nodes is put back.
func (s *Scheduler) askNext(ctx context.Context) {
	for s.asking.now == nil {
		w := s.asking.next()
		if w == nil {
			return
		}
		s.ask(ctx, w)
	}
}

// ask asks the extenders about a pod and its feasible nodes, or puts back a pod without any.
func (s *Scheduler) ask(ctx context.Context, w *queue.QueuedPodInfo) {
	if w.Latest != nil {
		w.PodInfo, w.Latest = w.Latest, nil
	}
	fit, err := s.profileOf(w).Feasible(s.cluster, w.PodInfo)
	if err != nil {
		s.handleUnschedulable(ctx, w, err)
		return
	}
	nodes := make([]*corev1.Node, len(fit))
	for i, n := range fit {
		nodes[i] = n.Node
	}
	pod, all := w.PodInfo.Pod, s.interested(w.PodInfo.Pod)
	calls, cancel := context.WithCancel(ctx)
	s.asking.now, s.asking.cancel = w, cancel
	s.queue.Watch(w, s.profileOf(w).Filters)
	s.preBinding.Go(func() {
		defer cancel()
		v, err := extenders.Consult(calls, all, pod, nodes, s.log)
		s.send(func() { s.consulted(ctx, w, v, err) })
	})
}

// consulted places a pod by the verdict of the extenders, and asks about the next one. A pod that is rejected is tried again if an
// event came after the extenders were asked, of which they may not have known.
func (s *Scheduler) consulted(ctx context.Context, w *queue.QueuedPodInfo, v *extenders.Verdict, err error) {
	seen := s.queue.Unwatch(w, s.profileOf(w).Filters...)
	if s.asking.now == w {
		s.asking.now = nil
		s.decide(ctx, w, v, err)
		if seen {
			s.queue.Retry(w.PodInfo.Pod.UID, time.Now())
		}
	}
	s.askNext(ctx)
}

// decide places a pod by a verdict. A pod that has become another one meanwhile is tried again.
func (s *Scheduler) decide(ctx context.Context, w *queue.QueuedPodInfo, v *extenders.Verdict, err error) {
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
		s.place(ctx, w, v)
	}
}

// isStale reports whether an attempt has failed because the extenders did not know of nodes that fit now.
func isStale(err error) bool {
	var fit *framework.FitError
	return errors.As(err, &fit) && extenders.Stale(fit)
}

// bindByExtender binds a pod by the first extender that binds pods like it, and reports whether there is such an extender.
func (s *Scheduler) bindByExtender(ctx context.Context, p *assumedPod) (bound bool, err error) {
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
