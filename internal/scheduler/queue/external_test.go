package queue

import (
	"testing"
	"testing/synctest"
	"time"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/framework"
	st "fairlead.dev/internal/scheduler/schedulertest"
)

// foreign is a filter whose events come by MoveRejected.
type foreign struct{ framework.Filter }

func (*foreign) Name() string                                              { return "Foreign" }
func (*foreign) EventsToRegister() framework.EventKind                     { return framework.PodRemoved }
func (*foreign) QueueingHint(*cache.PodInfo, *framework.ClusterEvent) bool { return true }

func to(m Move) func(*cache.PodInfo) Move { return func(*cache.PodInfo) Move { return m } }

// A plugin's own event moves the pods that it has rejected: not at all, after their backoff, or at once.
func TestMoveRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, f := New(DefaultInitialBackoff, DefaultMaxBackoff), &foreign{}
		q.AddOrUpdate(cache.NewPodInfo(st.Pod("p")), time.Now())
		for _, move := range []Move{Retry, AtOnce} {
			w := expect(t, q, "p")
			q.AddUnschedulable(w, []framework.Filter{f}, time.Now())
			q.MoveRejected(f, "Event", time.Now(), to(Stay))
			q.MoveRejected(&foreign{}, "Event", time.Now(), to(AtOnce))
			expect(t, q, "")
			q.MoveRejected(f, "Event", time.Now(), to(move))
			if active := w.heap == &q.active; active != (move == AtOnce) {
				t.Errorf("move %d: active is %v", move, active)
			}
		}
		w := expect(t, q, "p")
		q.AddUnschedulable(w, []framework.Filter{f}, time.Now())
		q.Activate(w.PodInfo.Pod.UID, time.Now())
		q.Activate("unknown", time.Now())
		expect(t, q, "p")
	})
}

// A pod that a filter gates is tried after an event of that filter, and gated again if the filter says so.
func TestGatedByFilter(t *testing.T) {
	q, f := New(DefaultInitialBackoff, DefaultMaxBackoff), &foreign{}
	gate := framework.Filter(f)
	q.PreEnqueue = func(*cache.PodInfo) framework.Filter { return gate }
	q.AddOrUpdate(cache.NewPodInfo(st.Pod("p")), time.Now())
	q.AddOrUpdate(cache.NewPodInfo(st.Pod("gone")), time.Now())
	q.Delete("gone")
	q.MoveRejected(f, "Event", time.Now(), to(Retry))
	expect(t, q, "")
	gate = nil
	q.MoveRejected(&foreign{}, "Event", time.Now(), to(Retry))
	expect(t, q, "")
	q.MoveRejected(f, "Event", time.Now(), to(Retry))
	if w := expect(t, q, "p"); w.GatedBy() != nil || q.HasRejected(f) {
		t.Errorf("gated by %v", w.GatedBy())
	}
}

// Events count for a pod that waits for a permission, if a filter that may reject it has registered them.
func TestWatch(t *testing.T) {
	for name, event := range map[string]func(q *Queue, f framework.Filter, w *QueuedPodInfo){
		"its own": func(q *Queue, f framework.Filter, _ *QueuedPodInfo) {
			q.MoveRejected(f, "Event", time.Now(), to(Retry))
		},
		"the cluster's": func(q *Queue, _ framework.Filter, _ *QueuedPodInfo) {
			q.MoveOnEvent(&framework.ClusterEvent{Kind: framework.PodRemoved}, time.Now())
		},
		"Activate": func(q *Queue, _ framework.Filter, w *QueuedPodInfo) { q.Activate(w.PodInfo.Pod.UID, time.Now()) },
	} {
		q, f, other := New(DefaultInitialBackoff, DefaultMaxBackoff), &foreign{}, &foreign{}
		q.AddOrUpdate(cache.NewPodInfo(st.Pod("p")), time.Now())
		w := expect(t, q, "p")
		q.Watch(w, []framework.Filter{f})
		q.MoveRejected(f, "Event", time.Now(), to(Stay))
		q.MoveOnEvent(&framework.ClusterEvent{Kind: framework.NodeAdded}, time.Now())
		if q.Unwatch(w, f) {
			t.Errorf("%s: an event that does not matter counts", name)
		}
		q.Watch(w, []framework.Filter{f})
		event(q, f, w)
		if q.Unwatch(w, other) {
			t.Errorf("%s: it counts for another filter", name)
		}
		q.Watch(w, []framework.Filter{f})
		event(q, f, w)
		if !q.Unwatch(w, f) {
			t.Errorf("%s: it does not count", name)
		}
	}
}

// Another order takes the place of that by priority.
func TestSort(t *testing.T) {
	q := New(DefaultInitialBackoff, DefaultMaxBackoff)
	q.Sort(func(a, b *QueuedPodInfo) bool { return a.PodInfo.Pod.Name > b.PodInfo.Pod.Name })
	for _, p := range []string{"a", "c", "b"} {
		q.AddOrUpdate(cache.NewPodInfo(st.Pod(p, st.Priority(1))), time.Now())
	}
	for _, want := range []string{"c", "b", "a"} {
		expect(t, q, want)
	}
}
