package scheduler

import (
	"container/heap"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Waiting times of pods that did not get a node.
const (
	firstBackoff = time.Second
	lastBackoff  = 10 * time.Second
	// A pod that no event woke is tried again after this long, in case a filter's Helps
	// is wrong.
	longestWait = 5 * time.Minute
)

// queue holds the pods that wait for a node. A pod is in one of four places:
//
//	active    ready to be tried, highest priority first, then longest waiting
//	backoff   to be tried when its time has come; if it waits only because it did not fit,
//	          then earlier, when nothing is active
//	parked    did not fit, until an event helps a filter that rejected it
//	gated     has scheduling gates
type queue struct {
	first, last time.Duration // of backoff
	pods        map[types.UID]*waiting
	active      waitHeap
	idle        waitHeap                         // backoff of pods that did not fit
	failed      waitHeap                         // backoff of pods that met an error
	parked      waitHeap                         // by time of parking
	by          map[Filter]map[*waiting]struct{} // parked, by who rejected them; nil: there were no nodes
	seq         uint64
}

// waiting is a pod in the queue, or taken out to be tried.
type waiting struct {
	info     *PodInfo
	since    time.Time // when it first came
	attempts int
	seq      uint64
	until    time.Time // of backoff
	by       []Filter  // that rejected it; see queue.by
	parked   time.Time
	latest   *PodInfo // of a pod taken out: a version that came meanwhile
	nominee  string   // the node it waits for others to leave
	in       *waitHeap
	index    int
}

func newQueue(first, last time.Duration) *queue {
	q := &queue{first: first, last: last, pods: map[types.UID]*waiting{}, by: map[Filter]map[*waiting]struct{}{}}
	q.active.less = func(a, b *waiting) bool {
		if a.info.Priority != b.info.Priority {
			return a.info.Priority > b.info.Priority
		}
		return a.seq < b.seq
	}
	byTime := func(a, b *waiting) bool { return a.until.Before(b.until) }
	q.idle.less, q.failed.less = byTime, byTime
	q.parked.less = func(a, b *waiting) bool { return a.parked.Before(b.parked) }
	return q
}

// set adds a pod, or takes over a new version of it, which is tried at once if it was
// parked: the change may be what it waited for.
func (q *queue) set(p *PodInfo, now time.Time) {
	w := q.pods[p.Pod.UID]
	if w == nil {
		w = &waiting{info: p, since: now}
		q.pods[p.Pod.UID] = w
		q.activate(w)
		return
	}
	w.info = p
	switch w.in {
	case &q.parked:
		q.wake(w, now)
	case &q.active:
		heap.Fix(w.in, w.index) // its priority may differ
	case nil:
		q.activate(w) // it was gated
	}
}

// refresh takes over a version of a pod that changes nothing about where it fits.
func (q *queue) refresh(p *PodInfo) {
	if w := q.pods[p.Pod.UID]; w != nil {
		w.info = p
	}
}

// activate makes a pod ready to be tried, unless it is gated.
func (q *queue) activate(w *waiting) {
	if len(w.info.Pod.Spec.SchedulingGates) > 0 {
		return
	}
	w.seq = q.seq
	q.seq++
	q.active.push(w)
}

// remove forgets a pod; it need not be known.
func (q *queue) remove(uid types.UID) {
	w := q.pods[uid]
	if w == nil {
		return
	}
	delete(q.pods, uid)
	if w.in == &q.parked {
		q.unpark(w)
	} else if w.in != nil {
		heap.Remove(w.in, w.index)
	}
}

// pop takes the next pod to try out of the queue; nil if there is none now. Then wake
// says when to ask again, unless something happens before; zero if there is no such time.
func (q *queue) pop(now time.Time) (w *waiting, wake time.Time) {
	q.flush(now)
	switch {
	case q.active.Len() > 0:
		w = heap.Pop(&q.active).(*waiting)
	case q.idle.Len() > 0:
		w = heap.Pop(&q.idle).(*waiting)
	default:
		return nil, q.nextTime()
	}
	delete(q.pods, w.info.Pod.UID)
	w.attempts++
	return w, time.Time{}
}

// flush moves what has waited long enough to active.
func (q *queue) flush(now time.Time) {
	for _, h := range []*waitHeap{&q.failed, &q.idle} {
		for h.Len() > 0 && !h.pods[0].until.After(now) {
			q.activate(heap.Pop(h).(*waiting))
		}
	}
	for q.parked.Len() > 0 && now.Sub(q.parked.pods[0].parked) >= longestWait {
		w := q.parked.pods[0]
		q.unpark(w)
		q.activate(w)
	}
}

func (q *queue) nextTime() (next time.Time) {
	if q.failed.Len() > 0 {
		next = q.failed.pods[0].until
	}
	if q.parked.Len() > 0 {
		if t := q.parked.pods[0].parked.Add(longestWait); next.IsZero() || t.Before(next) {
			next = t
		}
	}
	return next
}

// park puts a pod back that did not fit.
func (q *queue) park(w *waiting, by []Filter, now time.Time) {
	q.pods[w.info.Pod.UID] = w
	if len(by) == 0 {
		by = []Filter{nil}
	}
	w.by, w.parked, w.until = by, now, now.Add(q.backoff(w.attempts))
	for _, f := range by {
		if q.by[f] == nil {
			q.by[f] = map[*waiting]struct{}{}
		}
		q.by[f][w] = struct{}{}
	}
	q.parked.push(w)
}

// retry puts a pod back that met an error.
func (q *queue) retry(w *waiting, now time.Time) {
	q.pods[w.info.Pod.UID] = w
	w.until = now.Add(q.backoff(w.attempts))
	q.failed.push(w)
}

func (q *queue) backoff(attempts int) time.Duration {
	d := q.first
	for i := 1; i < attempts && d < q.last; i++ {
		d *= 2
	}
	return min(d, q.last)
}

// unpark takes a parked pod out.
func (q *queue) unpark(w *waiting) {
	for _, f := range w.by {
		delete(q.by[f], w)
	}
	w.by = nil
	heap.Remove(&q.parked, w.index)
}

// wake moves a parked pod to where it will be tried.
func (q *queue) wake(w *waiting, now time.Time) {
	q.unpark(w)
	if w.until.After(now) {
		q.idle.push(w)
	} else {
		q.activate(w)
	}
}

// happened wakes the pods that the event helps.
func (q *queue) happened(e *Event, now time.Time) {
	for f, pods := range q.by {
		if f == nil && e.Kind != NodeAdded || f != nil && !f.Events().any(e.Kind) {
			continue
		}
		for w := range pods {
			if f == nil || f.Helps(w.info, e) || e.Kind == PodRemoved && w.nominee == e.Node.name {
				q.wake(w, now)
			}
		}
	}
}
