package scheduler

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestPreemption(t *testing.T) {
	cpu3 := asking("cpu", "3")
	startedAt := func(minute int) podOption {
		return func(p *corev1.Pod) {
			p.Status.StartTime = &metav1.Time{Time: time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC)}
		}
	}
	guarded := &fakeObjects{budgets: []*policyv1.PodDisruptionBudget{{
		ObjectMeta: metav1.ObjectMeta{UID: "b"},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: selecting("app", "db")},
	}}}
	for _, tc := range []struct {
		name    string
		objects *fakeObjects
		nodes   []*corev1.Node
		there   []*corev1.Pod
		pod     *corev1.Pod
		want    string // node: victims
		err     string
	}{
		{name: "one pod leaves", nodes: nodes(1), there: []*corev1.Pod{newPod("q", on("n1"), cpu3)}, pod: newPod("p", cpu3, priority(10)), want: "n1: q"},
		{name: "no more than needed", nodes: nodes(1),
			there: []*corev1.Pod{newPod("a", on("n1"), asking("cpu", "1"), priority(3)), newPod("b", on("n1"), asking("cpu", "1"), priority(1)), newPod("c", on("n1"), asking("cpu", "2"), priority(2))},
			pod:   newPod("p", asking("cpu", "2"), priority(10)), want: "n1: c"},
		{name: "least important node", nodes: nodes(2),
			there: []*corev1.Pod{newPod("a", on("n1"), cpu3, priority(5)), newPod("b", on("n2"), cpu3, priority(4))},
			pod:   newPod("p", cpu3, priority(10)), want: "n2: b"},
		{name: "fewest pods", nodes: nodes(2),
			there: []*corev1.Pod{newPod("a", on("n1"), asking("cpu", "2")), newPod("b", on("n1"), asking("cpu", "2")), newPod("c", on("n2"), asking("cpu", "4"))},
			pod:   newPod("p", asking("cpu", "4"), priority(10)), want: "n2: c"},
		{name: "youngest pods", nodes: nodes(2),
			there: []*corev1.Pod{newPod("a", on("n1"), cpu3, startedAt(1)), newPod("b", on("n2"), cpu3, startedAt(2))},
			pod:   newPod("p", cpu3, priority(10)), want: "n2: b"},
		{name: "budgets are kept", objects: guarded, nodes: nodes(2),
			there: []*corev1.Pod{newPod("a", on("n1"), cpu3, with("app", "db")), newPod("b", on("n2"), cpu3, priority(5))},
			pod:   newPod("p", cpu3, priority(10)), want: "n2: b"},
		{name: "budgets are broken for want of others", objects: guarded, nodes: nodes(1),
			there: []*corev1.Pod{newPod("a", on("n1"), cpu3, with("app", "db"))}, pod: newPod("p", cpu3, priority(10)), want: "n1: a"},
		{name: "anti-affinity", nodes: nodes(1), there: []*corev1.Pod{newPod("q", on("n1"), with("app", "web"))},
			pod: newPod("p", priority(10), apart(corev1.LabelHostname, selecting("app", "web"))), want: "n1: q"},
		{name: "equals stay", nodes: nodes(1), there: []*corev1.Pod{newPod("q", on("n1"), cpu3)}, pod: newPod("p", cpu3),
			err: "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."},
		{name: "too large anyway", nodes: nodes(1), there: []*corev1.Pod{newPod("q", on("n1"), cpu3)}, pod: newPod("p", asking("cpu", "5"), priority(10)),
			err: "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."},
		{name: "room is not enough", nodes: nodes(1), there: []*corev1.Pod{newPod("q", on("n1"), asking("cpu", "1")), newPod("r", on("n1"), cpu3, priority(20))},
			pod: newPod("p", asking("cpu", "2"), priority(10)),
			err: "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Insufficient cpu."},
		{name: "never", nodes: nodes(1), there: []*corev1.Pod{newPod("q", on("n1"), cpu3)},
			pod: newPod("p", cpu3, priority(10), func(p *corev1.Pod) { p.Spec.PreemptionPolicy = new(corev1.PreemptNever) }),
			err: "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never."},
		{name: "no node would do", nodes: nodes(1), there: []*corev1.Pod{newPod("q", on("n1"), cpu3)}, pod: newPod("p", priority(10), mounting("none")),
			err: `0/1 nodes are available: persistentvolumeclaim "none" not found.`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCluster(tc.objects, tc.nodes, tc.there...)
			before := slices.Sorted(maps.Keys(c.pods))
			pl, p := placer{Profile: DefaultProfile()}, NewPodInfo(tc.pod)
			_, err := pl.place(c, p)
			var fit *FitError
			if !errors.As(err, &fit) {
				t.Fatalf("it fits: %v", err)
			}
			got := ""
			if e := pl.makeRoom(c, p, fit); e != nil {
				var victims []string
				for _, v := range e.victims {
					victims = append(victims, v.Pod.Name)
				}
				got = e.node.name + ": " + strings.Join(victims, " ")
			}
			if got != tc.want {
				t.Errorf("evicts %q, want %q", got, tc.want)
			}
			if tc.err != "" && fit.Error() != tc.err {
				t.Errorf("error:\n got %s\nwant %s", fit, tc.err)
			}
			if after := slices.Sorted(maps.Keys(c.pods)); !slices.Equal(before, after) {
				t.Errorf("the trial left %v of %v", after, before)
			}
		})
	}
}

// A nominated pod's room is kept from pods of lower priority, and no one else.
func TestNomination(t *testing.T) {
	c := newCluster(nil, nodes(2), newPod("other", on("n2"), asking("cpu", "4")))
	nominee := newPod("nominee", asking("cpu", "3"), priority(10))
	c.Nominate(NewPodInfo(nominee), "n1")
	for _, tc := range []struct {
		pod *corev1.Pod
		fit bool
	}{
		{newPod("low", asking("cpu", "2"), priority(1)), false},
		{newPod("small", asking("cpu", "1"), priority(1)), true},
		{newPod("equal", asking("cpu", "2"), priority(10)), false},
		{newPod("high", asking("cpu", "2"), priority(11)), true},
		{nominee, true},
	} {
		pl := placer{Profile: DefaultProfile()}
		if n, err := pl.place(c, NewPodInfo(tc.pod)); (err == nil) != tc.fit {
			t.Errorf("%s: %v, %v", tc.pod.Name, n, err)
		}
		if c.Node("n1").Requested.MilliCPU != 3000 {
			t.Fatalf("after %s the node has %dm requested", tc.pod.Name, c.Node("n1").Requested.MilliCPU)
		}
	}
	c.Withdraw(nominee.UID)
	if c.Node("n1").Pods() != 0 {
		t.Error("a ghost stays")
	}
}

// A pod waits for its victims, but not on a node to which it cannot go any more.
func TestLostNomination(t *testing.T) {
	for _, cordoned := range []bool{false, true} {
		all := nodes(2)
		all[0].Spec.Unschedulable = cordoned
		leaving := newPod("leaving", on("n1"), asking("cpu", "3"), func(p *corev1.Pod) {
			p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: corev1.PodReasonPreemptionByScheduler}}
		})
		c := newCluster(nil, all, leaving, newPod("other", on("n2"), asking("cpu", "3")))
		pl, p := placer{Profile: DefaultProfile()}, NewPodInfo(newPod("p", asking("cpu", "3"), priority(10)))
		c.Nominate(p, "n1")
		_, err := pl.place(c, p)
		var fit *FitError
		if !errors.As(err, &fit) {
			t.Fatalf("it fits: %v", err)
		}
		room := pl.makeRoom(c, p, fit)
		switch {
		case cordoned && (room == nil || room.node.name != "n2"):
			t.Errorf("no room is made elsewhere: %v", fit)
		case !cordoned && (room != nil || fit.Preemption != "preemption: not eligible due to a terminating pod on the nominated node."):
			t.Errorf("room is made again: %q", fit.Preemption)
		}
	}
}
