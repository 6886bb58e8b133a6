package queue

import (
	"container/heap"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/scheduler/framework"
	"fairlead.dev/internal/scheduler/metrics"
)

// The events that move pods, besides those of the cluster, as kube-scheduler calls them.
const (
	podAdded        = "UnscheduledPodAdd"
	podChanged      = "TargetPodUpdate"
	nominationEnded = "ForceActivate"
	attemptFailed   = "ScheduleAttemptFailure"
	backoffEnded    = "BackoffComplete"
	waitedLong      = "UnschedulableTimeout"
)

// AddUnschedulable puts a pod back that fits no node, or that a filter rejects after it got one.
func (q *Queue) AddUnschedulable(w *QueuedPodInfo, by []framework.Filter, now time.Time) {
	if w = q.putBack(w, now); w == nil {
		return
	}
	if len(by) == 0 {
		by = []framework.Filter{nil}
	}
	w.rejectedBy, w.unschedulableSince, w.backoffUntil = by, now, now.Add(q.backoffAfter(w.Attempts))
	for _, f := range by {
		if q.rejectedBy[f] == nil {
			q.rejectedBy[f] = map[*QueuedPodInfo]struct{}{}
		}
		q.rejectedBy[f][w] = struct{}{}
		q.countRejected(w, f, 1)
	}
	q.entered(w, metrics.Unschedulable, attemptFailed)
	q.unschedulable.push(w)
	q.index(w)
}

// AddAfterError puts a pod back that met an error.
func (q *Queue) AddAfterError(w *QueuedPodInfo, now time.Time) {
	if w = q.putBack(w, now); w == nil {
		return
	}
	w.backoffUntil = now.Add(q.backoffAfter(w.Attempts))
	q.errorBackoff.push(w)
	q.entered(w, metrics.Backoff, attemptFailed)
}

// putBack makes w known again, and returns the entity that waits: w, or, for a member, its group. It returns nil for a group without
// members, and for a member of a group that is in the queue.
func (q *Queue) putBack(w *QueuedPodInfo, now time.Time) *QueuedPodInfo {
	if key, ok := q.groupOf(w.PodInfo); ok && w.Group == nil {
		return q.rejoin(w, key, now)
	}
	if !q.restore(w) {
		return nil
	}
	return w
}

// Again makes a pod active that was taken out, because its attempt came to nothing for a reason that is gone.
func (q *Queue) Again(w *QueuedPodInfo) {
	if q.restore(w) {
		q.activate(w, attemptFailed)
	}
}

// Nominate sets the node on which an unschedulable pod waits for its victims to leave. It returns false if the pod is not
// unschedulable any more.
func (q *Queue) Nominate(uid types.UID, node string) bool {
	w := q.pods[uid]
	if w == nil || w.heap != &q.unschedulable {
		return false
	}
	w.NominatedNode = node
	return true
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
		q.countRejected(w, f, -1)
	}
	w.rejectedBy = nil
	q.unindex(w)
	heap.Remove(&q.unschedulable, w.index)
}

// countRejected counts a pod that waits because of a filter, or no longer does. A nil filter stands
// for a cluster without nodes.
func (q *Queue) countRejected(w *QueuedPodInfo, f framework.Filter, n float64) {
	if f != nil {
		q.Metrics.Rejected(f.Name(), w.PodInfo.Pod.Spec.SchedulerName, n)
	}
}

// requeue moves an unschedulable pod to backoff or active because of an event.
func (q *Queue) requeue(w *QueuedPodInfo, event string, now time.Time) {
	q.removeUnschedulable(w)
	if w.backoffUntil.After(now) {
		q.backoff.push(w)
		q.entered(w, metrics.Backoff, event)
	} else {
		q.activate(w, event)
	}
}

// MoveOnEvent moves the unschedulable pods that the event may make fit.
func (q *Queue) MoveOnEvent(e *framework.ClusterEvent, now time.Time) {
	if e.Kind == framework.ResourceClaimChanged {
		if q.claimChanged(e, now); !e.FreesDevices() {
			return
		}
	}
	for f, pods := range q.rejectedBy {
		if f == nil && e.Kind != framework.NodeAdded || f != nil && !f.EventsToRegister().Has(e.Kind) {
			continue
		}
		for w := range pods {
			if f == nil || w.hinted(f, e) || e.Kind == framework.PodRemoved && w.nominatedTo(e.Node.Name) {
				q.requeue(w, e.Kind.Label(), now)
			}
		}
	}
	if len(q.watched) > 0 {
		q.noticeEvent(e)
	}
}
