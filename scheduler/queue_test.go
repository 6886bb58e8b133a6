package scheduler

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// next pops a pod and returns its name; "" if there is none now.
func next(q *queue) (string, *waiting) {
	w, _ := q.pop(time.Now())
	if w == nil {
		return "", nil
	}
	return w.info.Pod.Name, w
}

func expect(t *testing.T, q *queue, want string) *waiting {
	t.Helper()
	name, w := next(q)
	if name != want {
		t.Fatalf("next is %q, want %q", name, want)
	}
	return w
}

func TestQueueOrder(t *testing.T) {
	q := newQueue(firstBackoff, lastBackoff)
	now := time.Now()
	for _, p := range []*corev1.Pod{newPod("a"), newPod("b", priority(5)), newPod("c"), newPod("d", priority(5)), newPod("e", priority(-1))} {
		q.set(NewPodInfo(p), now)
	}
	q.set(NewPodInfo(newPod("e", priority(9))), now) // raised while it waits
	q.remove("c")
	q.remove("unknown")
	for _, want := range []string{"e", "b", "d", "a", ""} {
		expect(t, q, want)
	}
}

func TestQueueGates(t *testing.T) {
	q := newQueue(firstBackoff, lastBackoff)
	gated := newPod("p", func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "wait"}} })
	q.set(NewPodInfo(gated), time.Now())
	expect(t, q, "")
	q.set(NewPodInfo(gated), time.Now())
	expect(t, q, "")
	q.set(NewPodInfo(newPod("p")), time.Now())
	expect(t, q, "p")
	expect(t, q, "")
}

// A pod that met an error waits 1, 2, 4, 8, 10, 10 seconds, to the moment.
func TestQueueErrorBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(firstBackoff, lastBackoff)
		q.set(NewPodInfo(newPod("p")), time.Now())
		w := expect(t, q, "p")
		for _, seconds := range []int{1, 2, 4, 8, 10, 10} {
			q.retry(w, time.Now())
			_, wake := q.pop(time.Now())
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
		c := newCluster(nil, nodes(1))
		q := newQueue(firstBackoff, lastBackoff)
		by := []Filter{resourcesFit{}}
		park := func() {
			w := expect(t, q, "big")
			q.park(w, by, time.Now())
		}
		q.set(NewPodInfo(newPod("big", asking("cpu", "6"))), time.Now())
		park()

		q.happened(&Event{Kind: NodeChanged, Node: c.Node("n1")}, time.Now())
		expect(t, q, "") // still too small
		q.happened(&Event{Kind: PodAdded, Node: c.Node("n1"), Pod: NewPodInfo(newPod("x"))}, time.Now())
		expect(t, q, "") // not this filter's kind of event

		grown := c.SetNode(newNode("n1", allocatable("cpu", "8")))
		q.happened(&Event{Kind: NodeChanged, Node: grown}, time.Now())
		q.set(NewPodInfo(newPod("small")), time.Now())
		expect(t, q, "small")
		park()

		time.Sleep(3 * time.Second) // longer than its backoff
		q.happened(&Event{Kind: NodeChanged, Node: grown}, time.Now())
		q.set(NewPodInfo(newPod("small")), time.Now())
		park()
		expect(t, q, "small")
		expect(t, q, "")

		time.Sleep(longestWait - 1)
		expect(t, q, "")
		time.Sleep(time.Nanosecond)
		park()
		q.set(NewPodInfo(newPod("big", asking("cpu", "1"))), time.Now()) // the pod itself changed
		expect(t, q, "big")
	})
}

func TestQueueWithoutNodes(t *testing.T) {
	q := newQueue(firstBackoff, lastBackoff)
	q.set(NewPodInfo(newPod("p")), time.Now())
	q.park(expect(t, q, "p"), nil, time.Now())
	c := newCluster(nil, nodes(1))
	q.happened(&Event{Kind: PodRemoved, Node: c.Node("n1"), Pod: NewPodInfo(newPod("x"))}, time.Now())
	expect(t, q, "")
	q.happened(&Event{Kind: NodeAdded, Node: c.Node("n1")}, time.Now())
	expect(t, q, "p")
}

func TestQueueForgetsRemoved(t *testing.T) {
	q := newQueue(firstBackoff, lastBackoff)
	now := time.Now()
	for _, name := range []string{"active", "parked", "failed"} {
		q.set(NewPodInfo(newPod(name)), now)
	}
	expect(t, q, "active")
	parked, failed := expect(t, q, "parked"), expect(t, q, "failed")
	q.park(parked, []Filter{taintToleration{}}, now)
	q.retry(failed, now)
	q.set(NewPodInfo(newPod("active")), now)
	for _, uid := range []string{"active", "parked", "failed"} {
		q.remove(newPod(uid).UID)
	}
	q.happened(&Event{Kind: NodeAdded, Node: newCluster(nil, nodes(1)).Node("n1")}, now)
	if w, wake := q.pop(now.Add(time.Hour)); w != nil || !wake.IsZero() || len(q.pods) != 0 {
		t.Errorf("left: %v, wake %v, %d pods", w, wake, len(q.pods))
	}
}
