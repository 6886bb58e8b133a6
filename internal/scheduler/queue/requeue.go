package queue

import (
	"container/heap"
	"time"

	"fairlead.dev/internal/scheduler/framework"
)

// AddUnschedulable puts a pod back that fits no node.
func (q *Queue) AddUnschedulable(w *QueuedPodInfo, by []framework.Filter, now time.Time) {
	q.pods[w.PodInfo.Pod.UID] = w
	if len(by) == 0 {
		by = []framework.Filter{nil}
	}
	w.rejectedBy, w.unschedulableSince, w.backoffUntil = by, now, now.Add(q.backoffAfter(w.Attempts))
	for _, f := range by {
		if q.rejectedBy[f] == nil {
			q.rejectedBy[f] = map[*QueuedPodInfo]struct{}{}
		}
		q.rejectedBy[f][w] = struct{}{}
	}
	q.unschedulable.push(w)
}

// AddAfterError puts a pod back that met an error.
func (q *Queue) AddAfterError(w *QueuedPodInfo, now time.Time) {
	q.pods[w.PodInfo.Pod.UID] = w
	w.backoffUntil = now.Add(q.backoffAfter(w.Attempts))
	q.errorBackoff.push(w)
}

func (q *Queue) backoffAfter(attempts int) time.Duration {
	d := q.initialBackoff
	for i := 1; i < attempts && d < q.maxBackoff; i++ {
		d *= 2
	}
	return min(d, q.maxBackoff)
}

// removeUnschedulable removes an unschedulable pod.
func (q *Queue) removeUnschedulable(w *QueuedPodInfo) {
	for _, f := range w.rejectedBy {
		delete(q.rejectedBy[f], w)
	}
	w.rejectedBy = nil
	heap.Remove(&q.unschedulable, w.index)
}

// requeue moves an unschedulable pod to backoff or active.
func (q *Queue) requeue(w *QueuedPodInfo, now time.Time) {
	q.removeUnschedulable(w)
	if w.backoffUntil.After(now) {
		q.backoff.push(w)
	} else {
		q.activate(w)
	}
}

// MoveOnEvent moves the unschedulable pods that the event may make fit.
func (q *Queue) MoveOnEvent(e *framework.ClusterEvent, now time.Time) {
	for f, pods := range q.rejectedBy {
		if f == nil && e.Kind != framework.NodeAdded || f != nil && !f.EventsToRegister().Has(e.Kind) {
			continue
		}
		for w := range pods {
			if f == nil || f.QueueingHint(w.PodInfo, e) || e.Kind == framework.PodRemoved && w.NominatedNode == e.Node.Name {
				q.requeue(w, now)
			}
		}
	}
}
