package queue

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/config"
	"fairlead.dev/internal/scheduler/framework"
	st "fairlead.dev/internal/scheduler/schedulertest"
)

// next pops a pod and returns its name; "" if no pod is ready.
func next(q *Queue) (string, *QueuedPodInfo) {
	w, _ := q.Pop(time.Now())
	if w == nil {
		return "", nil
	}
	return w.PodInfo.Pod.Name, w
}

func expect(t *testing.T, q *Queue, want string) *QueuedPodInfo {
	t.Helper()
	name, w := next(q)
	if name != want {
		t.Fatalf("next is %q, want %q", name, want)
	}
	return w
}

// filtersNamed returns the filter of that name in the default profile.
func filtersNamed(name string) []framework.Filter {
	return slices.DeleteFunc(config.DefaultProfile().Filters, func(f framework.Filter) bool { return f.Name() != name })
}

func TestQueueOrder(t *testing.T) {
	q := New(DefaultInitialBackoff, DefaultMaxBackoff)
	now := time.Now()
	for _, p := range []*corev1.Pod{st.Pod("a"), st.Pod("b", st.Priority(5)), st.Pod("c"), st.Pod("d", st.Priority(5)), st.Pod("e", st.Priority(-1))} {
		q.AddOrUpdate(cache.NewPodInfo(p), now)
	}
	q.AddOrUpdate(cache.NewPodInfo(st.Pod("e", st.Priority(9))), now) // raised while it waits
	q.Delete("c")
	q.Delete("unknown")
	for _, want := range []string{"e", "b", "d", "a", ""} {
		expect(t, q, want)
	}
}

func TestQueueGates(t *testing.T) {
	q := New(DefaultInitialBackoff, DefaultMaxBackoff)
	gated := st.Pod("p", func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "wait"}} })
	q.AddOrUpdate(cache.NewPodInfo(gated), time.Now())
	expect(t, q, "")
	q.AddOrUpdate(cache.NewPodInfo(gated), time.Now())
	expect(t, q, "")
	q.AddOrUpdate(cache.NewPodInfo(st.Pod("p")), time.Now())
	expect(t, q, "p")
	expect(t, q, "")
}

// A pod that met an error waits 1, 2, 4, 8, 10, 10 seconds, to the moment.
func TestQueueErrorBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(DefaultInitialBackoff, DefaultMaxBackoff)
		q.AddOrUpdate(cache.NewPodInfo(st.Pod("p")), time.Now())
		w := expect(t, q, "p")
		for _, seconds := range []int{1, 2, 4, 8, 10, 10} {
			q.AddAfterError(w, time.Now())
			_, wake := q.Pop(time.Now())
			if got := time.Until(wake); got != time.Duration(seconds)*time.Second {
				t.Fatalf("waits %v, want %ds", got, seconds)
			}
			time.Sleep(time.Duration(seconds)*time.Second - 1)
			expect(t, q, "")
			time.Sleep(time.Nanosecond)
			w = expect(t, q, "p")
		}
	})
}

// A pod that did not fit waits for an event that helps it. In its backoff it goes behind
// pods that are ready, but does not keep an idle scheduler waiting.
func TestQueueWakesByEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := st.NewCluster(nil, st.Nodes(1))
		q := New(DefaultInitialBackoff, DefaultMaxBackoff)
		by := filtersNamed("NodeResourcesFit")
		park := func() {
			w := expect(t, q, "big")
			q.AddUnschedulable(w, by, time.Now())
		}
		q.AddOrUpdate(cache.NewPodInfo(st.Pod("big", st.Requesting("cpu", "6"))), time.Now())
		park()

		q.MoveOnEvent(&framework.ClusterEvent{Kind: framework.NodeChanged, Node: c.Node("n1")}, time.Now())
		expect(t, q, "") // still too small
		q.MoveOnEvent(&framework.ClusterEvent{Kind: framework.PodAdded, Node: c.Node("n1"), Pod: cache.NewPodInfo(st.Pod("x"))}, time.Now())
		expect(t, q, "") // not this filter's kind of event

		grown := c.SetNode(st.Node("n1", st.Allocatable("cpu", "8")))
		q.MoveOnEvent(&framework.ClusterEvent{Kind: framework.NodeChanged, Node: grown}, time.Now())
		q.AddOrUpdate(cache.NewPodInfo(st.Pod("small")), time.Now())
		expect(t, q, "small")
		park()

		time.Sleep(3 * time.Second) // longer than its backoff
		q.MoveOnEvent(&framework.ClusterEvent{Kind: framework.NodeChanged, Node: grown}, time.Now())
		q.AddOrUpdate(cache.NewPodInfo(st.Pod("small")), time.Now())
		park()
		expect(t, q, "small")
		expect(t, q, "")

		time.Sleep(maxUnschedulableWait - 1)
		expect(t, q, "")
		time.Sleep(time.Nanosecond)
		park()
		q.AddOrUpdate(cache.NewPodInfo(st.Pod("big", st.Requesting("cpu", "1"))), time.Now()) // the pod itself changed
		expect(t, q, "big")
	})
}

func TestQueueWithoutNodes(t *testing.T) {
	q := New(DefaultInitialBackoff, DefaultMaxBackoff)
	q.AddOrUpdate(cache.NewPodInfo(st.Pod("p")), time.Now())
	q.AddUnschedulable(expect(t, q, "p"), nil, time.Now())
	c := st.NewCluster(nil, st.Nodes(1))
	q.MoveOnEvent(&framework.ClusterEvent{Kind: framework.PodRemoved, Node: c.Node("n1"), Pod: cache.NewPodInfo(st.Pod("x"))}, time.Now())
	expect(t, q, "")
	q.MoveOnEvent(&framework.ClusterEvent{Kind: framework.NodeAdded, Node: c.Node("n1")}, time.Now())
	expect(t, q, "p")
}

func TestQueueForgetsRemoved(t *testing.T) {
	q := New(DefaultInitialBackoff, DefaultMaxBackoff)
	now := time.Now()
	for _, name := range []string{"active", "parked", "failed"} {
		q.AddOrUpdate(cache.NewPodInfo(st.Pod(name)), now)
	}
	expect(t, q, "active")
	parked, failed := expect(t, q, "parked"), expect(t, q, "failed")
	q.AddUnschedulable(parked, filtersNamed("TaintToleration"), now)
	q.AddAfterError(failed, now)
	q.AddOrUpdate(cache.NewPodInfo(st.Pod("active")), now)
	for _, uid := range []string{"active", "parked", "failed"} {
		q.Delete(st.Pod(uid).UID)
	}
	q.MoveOnEvent(&framework.ClusterEvent{Kind: framework.NodeAdded, Node: st.NewCluster(nil, st.Nodes(1)).Node("n1")}, now)
	if w, wake := q.Pop(now.Add(time.Hour)); w != nil || !wake.IsZero() || q.Has("active") || q.Has("parked") || q.Has("failed") {
		t.Errorf("left: %v, wake %v", w, wake)
	}
}
