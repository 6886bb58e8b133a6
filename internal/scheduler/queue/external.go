package queue

import (
	"container/heap"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

// A Move tells where an event moves a pod that a plugin has rejected.
type Move int

// The moves.
const (
	Stay   Move = iota
	Retry       // after its backoff
	AtOnce      // without backoff
)

// watched are the filters that may reject a pod which extenders are asked about, or whose binding waits to be permitted, with true
// for those that an event has come for.
type watched map[framework.Filter]bool

// noticeAll counts an event for each filter.
func (of watched) noticeAll() {
	for f := range of {
		of[f] = true
	}
}

// Watch counts events for the filters that may reject a pod whose attempt goes on.
func (q *Queue) Watch(w *QueuedPodInfo, by []framework.Filter) {
	if q.watched == nil {
		q.watched = map[*QueuedPodInfo]watched{}
	}
	q.watched[w] = watched{}
	for _, f := range by {
		q.watched[w][f] = false
	}
}

// Unwatch ends Watch. It reports whether an event came for one of the filters.
func (q *Queue) Unwatch(w *QueuedPodInfo, by ...framework.Filter) bool {
	of := q.watched[w]
	delete(q.watched, w)
	return slices.ContainsFunc(by, func(f framework.Filter) bool { return of[f] })
}

// noticeWatched counts an event for the watched pods that it may make fit.
func (q *Queue) noticeWatched(f framework.Filter, hint func(*cache.PodInfo) bool) {
	for w, of := range q.watched {
		if seen, pending := of[f]; pending && !seen && w.any(hint) {
			of[f] = true
		}
	}
}

// noticeEvent counts an event of the cluster for the watched pods.
func (q *Queue) noticeEvent(e *framework.ClusterEvent) {
	for w, of := range q.watched {
		for f, seen := range of {
			if !seen && f.EventsToRegister().Has(e.Kind) && w.hinted(f, e) {
				of[f] = true
			}
		}
	}
}

// HasRejected reports whether a pod waits that a filter has rejected or gated.
func (q *Queue) HasRejected(f framework.Filter) bool {
	return len(q.rejectedBy[f]) > 0 || len(q.gatedBy[f]) > 0 || len(q.watched) > 0
}

// MoveRejected moves the pods that filter f has rejected or gated because of an event of the filter's own. A group goes where the
// event moves any of its members.
func (q *Queue) MoveRejected(f framework.Filter, event string, now time.Time, hint func(*cache.PodInfo) Move) {
	for _, w := range slices.Collect(maps.Keys(q.rejectedBy[f])) {
		to := Stay
		if w.Group == nil {
			to = hint(w.PodInfo)
		}
		for _, m := range w.members() {
			to = max(to, hint(m.PodInfo))
		}
		q.move(w, event, now, to)
	}
	for w := range q.gatedBy[f] {
		if hint(w.PodInfo) != Stay {
			q.activate(w.entity(), event)
		}
	}
	q.noticeWatched(f, func(p *cache.PodInfo) bool { return hint(p) != Stay })
}

func (q *Queue) move(w *QueuedPodInfo, event string, now time.Time, to Move) {
	switch to {
	case Retry:
		q.requeue(w, event, now)
	case AtOnce:
		q.removeUnschedulable(w)
		q.activate(w, event)
	}
}

// Activate makes a waiting pod active at once. A pod whose binding waits to be permitted is tried again if it is rejected.
func (q *Queue) Activate(uid types.UID, now time.Time) {
	w := q.pods[uid]
	if w != nil {
		w = w.entity()
	}
	switch {
	case w == nil:
		for w, of := range q.watched {
			if w.PodInfo.Pod.UID == uid {
				of.noticeAll()
			}
		}
	case w.heap == &q.parked:
		q.watched[w].noticeAll()
	case w.heap == &q.unschedulable:
		q.move(w, nominationEnded, now, AtOnce)
	case w.heap == &q.backoff || w.heap == &q.errorBackoff:
		heap.Remove(w.heap, w.index)
		q.activate(w, nominationEnded)
	case w.heap == nil:
		q.activate(w, nominationEnded)
	}
}

// Added returns when the pod was first added to the queue.
func (w *QueuedPodInfo) Added() time.Time { return w.since }

// RejectedBy returns the filters that rejected the pod in its last attempt.
func (w *QueuedPodInfo) RejectedBy() []framework.Filter { return w.rejectedBy }

// BackoffUntil returns the end of the pod's backoff.
func (w *QueuedPodInfo) BackoffUntil() time.Time { return w.backoffUntil }

// GatedBy returns the filter that does not let the pod be tried.
func (w *QueuedPodInfo) GatedBy() framework.Filter { return w.gatedBy }

// Sort orders the active pods by less instead of by priority. It must be called before the first pod is added.
func (q *Queue) Sort(less func(a, b *QueuedPodInfo) bool) { q.active.less = less }

// gate records the filter that does not let a pod be tried; nil: none.
func (q *Queue) gate(w *QueuedPodInfo, by framework.Filter) {
	if w.gatedBy != nil {
		delete(q.gatedBy[w.gatedBy], w)
	}
	w.gatedBy = by
	if by == nil {
		return
	}
	if q.gatedBy == nil {
		q.gatedBy = map[framework.Filter]map[*QueuedPodInfo]struct{}{}
	}
	if q.gatedBy[by] == nil {
		q.gatedBy[by] = map[*QueuedPodInfo]struct{}{}
	}
	q.gatedBy[by][w] = struct{}{}
}
