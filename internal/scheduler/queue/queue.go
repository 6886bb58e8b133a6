package queue

import (
	"container/heap"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
	"fairlead.dev/internal/scheduler/metrics"
)

// Waiting times of pods that did not get a node.
const (
	DefaultInitialBackoff = time.Second
	DefaultMaxBackoff     = 10 * time.Second
	// maxUnschedulableWait is the time after which an unschedulable pod is tried again even without
	// an event, in case a QueueingHint is wrong.
	maxUnschedulableWait = 5 * time.Minute
)

// A Queue holds the pods that wait for a node. A pod is in one of these places:
//
//	active         ready to be tried, highest priority first, then longest waiting
//	backoff        did not fit, and an event came; tried after its backoff, or earlier
//	               while no pod is active
//	errorBackoff   met an error; tried after its backoff
//	unschedulable  did not fit; waits for an event that a QueueingHint approves
//	gated          has scheduling gates, or PreEnqueue rejects it; only in pods
//	parked         a pod group whose attempt goes on when extenders have answered; see Park
//
// The pods of a pod group move together: see Group.
type Queue struct {
	// Metrics counts the moves of pods; it may be nil.
	Metrics *metrics.Metrics
	// PreEnqueue returns the filter that does not let a pod be tried, which is gated then; nil: try it.
	PreEnqueue func(*cache.PodInfo) framework.Filter
	// GroupReady reports whether to try a pod group, which is gated otherwise; nil: pods have no groups.
	GroupReady func(GroupKey) bool
	// RootOf returns the root of a pod group's hierarchy, or the group itself. After a change Rehome has to be called.
	RootOf                     func(group types.NamespacedName) GroupKey
	initialBackoff, maxBackoff time.Duration // of backoff
	pods                       map[types.UID]*QueuedPodInfo
	active                     podHeap
	backoff                    podHeap // pods that did not fit and have been moved by an event
	errorBackoff               podHeap // pods that met an error
	unschedulable              podHeap // pods that did not fit, by the time of the attempt
	parked                     podHeap
	rejectedBy                 map[framework.Filter]map[*QueuedPodInfo]struct{}     // unschedulable pods by the filters that rejected them; nil: there were no nodes
	byClaim                    map[types.NamespacedName]map[*QueuedPodInfo]struct{} // gated and unschedulable pods by their ResourceClaims
	gatedBy                    map[framework.Filter]map[*QueuedPodInfo]struct{}     // gated pods by the filter whose PreEnqueue rejects them
	watched                    map[*QueuedPodInfo]watched                           // see Watch
	groups                     map[GroupKey]*QueuedPodInfo
	members                    int // of the groups together
	seq                        uint64
}

// QueuedPodInfo is a pod in the queue, or taken out to be tried. It may stand for a pod group.
type QueuedPodInfo struct {
	PodInfo  *cache.PodInfo
	Group    *Group         // nil for a pod
	of       *QueuedPodInfo // of a pod that is a member: its group
	since    time.Time      // when it was first added
	Attempts int
	// Began is when the last attempt began, and First when the first one did.
	Began, First       time.Time
	seq                uint64
	backoffUntil       time.Time          // end of its backoff
	rejectedBy         []framework.Filter // as in Queue.rejectedBy
	unschedulableSince time.Time
	Latest             *cache.PodInfo // a newer version of an assumed pod
	NominatedNode      string         // where it waits for its victims to leave
	resumes            bool           // the next attempt is the one that Park has interrupted
	gatedBy            framework.Filter
	indexed            *cache.PodInfo // the version by which it is in Queue.byClaim; nil: it is not there
	heap               *podHeap
	index              int
}

func New(first, last time.Duration) *Queue {
	q := &Queue{initialBackoff: first, maxBackoff: last, pods: map[types.UID]*QueuedPodInfo{}, rejectedBy: map[framework.Filter]map[*QueuedPodInfo]struct{}{}, byClaim: map[types.NamespacedName]map[*QueuedPodInfo]struct{}{}, groups: map[GroupKey]*QueuedPodInfo{}}
	q.active.less = func(a, b *QueuedPodInfo) bool {
		if a.PodInfo.Priority != b.PodInfo.Priority {
			return a.PodInfo.Priority > b.PodInfo.Priority
		}
		return a.seq < b.seq
	}
	byTime := func(a, b *QueuedPodInfo) bool { return a.backoffUntil.Before(b.backoffUntil) }
	q.backoff.less, q.errorBackoff.less, q.parked.less = byTime, byTime, byTime
	q.unschedulable.less = func(a, b *QueuedPodInfo) bool { return a.unschedulableSince.Before(b.unschedulableSince) }
	return q
}

// AddOrUpdate adds a pod or its new version. An unschedulable pod is tried again, because the
// update may make it fit.
func (q *Queue) AddOrUpdate(p *cache.PodInfo, now time.Time) {
	w := q.pods[p.Pod.UID]
	if w == nil {
		w = &QueuedPodInfo{PodInfo: p, since: now}
		q.pods[p.Pod.UID] = w
		if key, ok := q.groupOf(p); ok {
			q.join(w, key, now)
			return
		}
		q.activate(w, podAdded)
		return
	}
	w.PodInfo = p
	if w.of != nil {
		q.awake(w.of, podChanged, now)
		return
	}
	switch w.heap {
	case &q.unschedulable:
		q.requeue(w, podChanged, now)
	case &q.active:
		heap.Fix(w.heap, w.index) // its priority may have changed
	case nil:
		q.activate(w, podChanged) // it was gated
	}
}

// Has reports whether the queue holds a pod.
func (q *Queue) Has(uid types.UID) bool { return q.pods[uid] != nil }

// AddNominated adds a pod that an earlier scheduler nominated to a node.
func (q *Queue) AddNominated(p *cache.PodInfo, node string, now time.Time) {
	q.AddOrUpdate(p, now)
	q.pods[p.Pod.UID].NominatedNode = node
}

// EndNomination clears the node to which a pod was nominated. An unschedulable pod, which waits for
// its victims to leave, is tried again.
func (q *Queue) EndNomination(uid types.UID, now time.Time) {
	w := q.pods[uid]
	if w == nil {
		return
	}
	w.NominatedNode = ""
	if w = w.entity(); w.heap == &q.unschedulable {
		q.requeue(w, nominationEnded, now)
	}
}

// Refresh stores a version of a pod with another status. One that names other ResourceClaims, or makes one needless, may make it fit.
func (q *Queue) Refresh(p *cache.PodInfo, now time.Time) {
	w := q.pods[p.Pod.UID]
	if w == nil {
		return
	}
	same := slices.EqualFunc(w.PodInfo.Pod.Status.ResourceClaimStatuses, p.Pod.Status.ResourceClaimStatuses, func(a, b corev1.PodResourceClaimStatus) bool {
		return a.Name == b.Name && ptr.Equal(a.ResourceClaimName, b.ResourceClaimName)
	})
	w.PodInfo = p
	if !same && w.indexed != nil {
		q.awake(w.entity(), podChanged, now)
	}
}

// activate makes a pod active because of an event, unless it is gated.
func (q *Queue) activate(w *QueuedPodInfo, event string) {
	q.unindex(w)
	if q.held(w) {
		q.index(w)
		q.entered(w, metrics.Gated, event)
		return
	}
	q.entered(w, metrics.Active, event)
	w.seq = q.seq
	q.seq++
	q.active.push(w)
}

// gated reports whether a pod must not be tried.
func (q *Queue) gated(w *QueuedPodInfo) bool {
	if len(w.PodInfo.Pod.Spec.SchedulingGates) > 0 {
		return true
	}
	if q.PreEnqueue == nil {
		return false
	}
	by := q.PreEnqueue(w.PodInfo)
	if by != w.gatedBy {
		q.gate(w, by)
	}
	return by != nil
}

// Delete removes a pod, if it is known.
func (q *Queue) Delete(uid types.UID) {
	w := q.pods[uid]
	if w == nil {
		return
	}
	delete(q.pods, uid)
	q.gate(w, nil)
	q.unindex(w)
	if w.of != nil {
		q.leave(w)
		return
	}
	if w.heap == &q.unschedulable {
		q.removeUnschedulable(w)
	} else if w.heap != nil {
		heap.Remove(w.heap, w.index)
	}
}

// Pop removes the next pod to try from the queue; nil if no pod is ready. Then wake is the time
// at which to call Pop again, unless an event comes before; zero if there is no such time.
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
	if w.Group != nil {
		if q.held(w) { // a member has come or gone, or the group has changed
			q.index(w)
			return q.Pop(now)
		}
		q.takeMembers(w, now)
	}
	delete(q.pods, w.PodInfo.Pod.UID)
	w.tried(now)
	return w, time.Time{}
}

// tried counts an attempt, unless it was only interrupted.
func (w *QueuedPodInfo) tried(now time.Time) {
	if w.resumes {
		w.resumes = false
		return
	}
	if w.Attempts++; w.Attempts == 1 {
		w.First = now
	}
	w.Began = now
}

// flush makes pods active whose waiting time is over.
func (q *Queue) flush(now time.Time) {
	for _, h := range []*podHeap{&q.errorBackoff, &q.backoff} {
		for h.Len() > 0 && !h.pods[0].backoffUntil.After(now) {
			q.activate(heap.Pop(h).(*QueuedPodInfo), backoffEnded)
		}
	}
	for q.unschedulable.Len() > 0 && now.Sub(q.unschedulable.pods[0].unschedulableSince) >= maxUnschedulableWait {
		w := q.unschedulable.pods[0]
		q.removeUnschedulable(w)
		q.activate(w, waitedLong)
	}
}

// entered counts that w has entered a place because of an event.
func (q *Queue) entered(w *QueuedPodInfo, place, event string) {
	q.Metrics.Entered(place, event, w.size(), w.Group != nil)
}

// Sizes returns the numbers of pods and of pod groups in the queues.
func (q *Queue) Sizes() metrics.Sizes {
	s := metrics.Sizes{Active: q.active.sizes(), Backoff: q.backoff.sizes().Plus(q.errorBackoff.sizes()), Unschedulable: q.unschedulable.sizes()}
	s.Gated = metrics.Size{Pods: len(q.pods), Groups: len(q.groups), Alone: len(q.pods) - q.members}
	for _, other := range []metrics.Size{s.Active, s.Backoff, s.Unschedulable, q.parked.sizes()} {
		s.Gated = s.Gated.Minus(other)
	}
	return s
}

// Waiting returns the number of pods that are tried at a later time without an event.
func (q *Queue) Waiting() int { return q.errorBackoff.Len() + q.unschedulable.Len() }

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
