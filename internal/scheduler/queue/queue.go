package queue

import (
	"container/heap"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
)

// Waiting times of pods that did not get a node.
const (
	DefaultInitialBackoff = time.Second
	DefaultMaxBackoff     = 10 * time.Second
	// A pod that no event woke is tried again after this long, in case a filter's Helps
	// is wrong.
	maxUnschedulableWait = 5 * time.Minute
)

// Queue holds the pods that wait for a node. A pod is in one of four places:
//
//	active    ready to be tried, highest priority first, then longest waiting
//	backoff   to be tried when its time has come; if it waits only because it did not fit,
//	          then earlier, when nothing is active
//	parked    did not fit, until an event helps a filter that rejected it
//	gated     has scheduling gates
type Queue struct {
	initialBackoff, maxBackoff time.Duration // of backoff
	pods                       map[types.UID]*QueuedPodInfo
	active                     podHeap
	backoff                    podHeap                                          // backoff of pods that did not fit
	errorBackoff               podHeap                                          // backoff of pods that met an error
	unschedulable              podHeap                                          // by time of parking
	rejectedBy                 map[framework.Filter]map[*QueuedPodInfo]struct{} // parked, by who rejected them; nil: there were no nodes
	seq                        uint64
}

// QueuedPodInfo is a pod in the queue, or taken out to be tried.
type QueuedPodInfo struct {
	PodInfo            *cache.PodInfo
	since              time.Time // when it first came
	Attempts           int
	seq                uint64
	backoffUntil       time.Time          // of backoff
	rejectedBy         []framework.Filter // that rejected it; see queue.by
	unschedulableSince time.Time
	Latest             *cache.PodInfo // of a pod taken out: a version that came meanwhile
	NominatedNode      string         // the node it waits for others to leave
	heap               *podHeap
	index              int
}

func New(first, last time.Duration) *Queue {
	q := &Queue{initialBackoff: first, maxBackoff: last, pods: map[types.UID]*QueuedPodInfo{}, rejectedBy: map[framework.Filter]map[*QueuedPodInfo]struct{}{}}
	q.active.less = func(a, b *QueuedPodInfo) bool {
		if a.PodInfo.Priority != b.PodInfo.Priority {
			return a.PodInfo.Priority > b.PodInfo.Priority
		}
		return a.seq < b.seq
	}
	byTime := func(a, b *QueuedPodInfo) bool { return a.backoffUntil.Before(b.backoffUntil) }
	q.backoff.less, q.errorBackoff.less = byTime, byTime
	q.unschedulable.less = func(a, b *QueuedPodInfo) bool { return a.unschedulableSince.Before(b.unschedulableSince) }
	return q
}

// AddOrUpdate adds a pod, or takes over a new version of it, which is tried at once if it was
// parked: the change may be what it waited for.
func (q *Queue) AddOrUpdate(p *cache.PodInfo, now time.Time) {
	w := q.pods[p.Pod.UID]
	if w == nil {
		w = &QueuedPodInfo{PodInfo: p, since: now}
		q.pods[p.Pod.UID] = w
		q.activate(w)
		return
	}
	w.PodInfo = p
	switch w.heap {
	case &q.unschedulable:
		q.requeue(w, now)
	case &q.active:
		heap.Fix(w.heap, w.index) // its priority may differ
	case nil:
		q.activate(w) // it was gated
	}
}

// Has reports whether the queue holds a pod.
func (q *Queue) Has(uid types.UID) bool { return q.pods[uid] != nil }

// AddNominated adds a pod that an earlier scheduler nominated to a node.
func (q *Queue) AddNominated(p *cache.PodInfo, node string, now time.Time) {
	q.AddOrUpdate(p, now)
	q.pods[p.Pod.UID].NominatedNode = node
}

// EndNomination forgets the node to which a pod was nominated. A pod that waits in
// unschedulable for its victims to leave is tried again.
func (q *Queue) EndNomination(uid types.UID, now time.Time) {
	w := q.pods[uid]
	if w == nil {
		return
	}
	w.NominatedNode = ""
	if w.heap == &q.unschedulable {
		q.requeue(w, now)
	}
}

// Refresh takes over a version of a pod that changes nothing about where it fits.
func (q *Queue) Refresh(p *cache.PodInfo) {
	if w := q.pods[p.Pod.UID]; w != nil {
		w.PodInfo = p
	}
}

// activate makes a pod ready to be tried, unless it is gated.
func (q *Queue) activate(w *QueuedPodInfo) {
	if len(w.PodInfo.Pod.Spec.SchedulingGates) > 0 {
		return
	}
	w.seq = q.seq
	q.seq++
	q.active.push(w)
}

// Delete forgets a pod; it need not be known.
func (q *Queue) Delete(uid types.UID) {
	w := q.pods[uid]
	if w == nil {
		return
	}
	delete(q.pods, uid)
	if w.heap == &q.unschedulable {
		q.removeUnschedulable(w)
	} else if w.heap != nil {
		heap.Remove(w.heap, w.index)
	}
}

// Pop takes the next pod to try out of the queue; nil if there is none now. Then wake
// says when to ask again, unless something happens before; zero if there is no such time.
func (q *Queue) Pop(now time.Time) (w *QueuedPodInfo, wake time.Time) {
	q.flush(now)
	switch {
	case q.active.Len() > 0:
		w = heap.Pop(&q.active).(*QueuedPodInfo)
	case q.backoff.Len() > 0:
		w = heap.Pop(&q.backoff).(*QueuedPodInfo)
	default:
		return nil, q.nextTime()
	}
	delete(q.pods, w.PodInfo.Pod.UID)
	w.Attempts++
	return w, time.Time{}
}

// flush moves what has waited long enough to active.
func (q *Queue) flush(now time.Time) {
	for _, h := range []*podHeap{&q.errorBackoff, &q.backoff} {
		for h.Len() > 0 && !h.pods[0].backoffUntil.After(now) {
			q.activate(heap.Pop(h).(*QueuedPodInfo))
		}
	}
	for q.unschedulable.Len() > 0 && now.Sub(q.unschedulable.pods[0].unschedulableSince) >= maxUnschedulableWait {
		w := q.unschedulable.pods[0]
		q.removeUnschedulable(w)
		q.activate(w)
	}
}

func (q *Queue) nextTime() (next time.Time) {
	if q.errorBackoff.Len() > 0 {
		next = q.errorBackoff.pods[0].backoffUntil
	}
	if q.unschedulable.Len() > 0 {
		if t := q.unschedulable.pods[0].unschedulableSince.Add(maxUnschedulableWait); next.IsZero() || t.Before(next) {
			next = t
		}
	}
	return next
}

// AddUnschedulable puts a pod back that did not fit.
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

// removeUnschedulable takes a parked pod out.
func (q *Queue) removeUnschedulable(w *QueuedPodInfo) {
	for _, f := range w.rejectedBy {
		delete(q.rejectedBy[f], w)
	}
	w.rejectedBy = nil
	heap.Remove(&q.unschedulable, w.index)
}

// requeue moves a parked pod to where it will be tried.
func (q *Queue) requeue(w *QueuedPodInfo, now time.Time) {
	q.removeUnschedulable(w)
	if w.backoffUntil.After(now) {
		q.backoff.push(w)
	} else {
		q.activate(w)
	}
}

// MoveOnEvent wakes the pods that the event helps.
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
