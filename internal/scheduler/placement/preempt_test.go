package placement

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
	"k8s.io/apimachinery/pkg/types"

	"fairlead.dev/internal/scheduler/cache"
	"fairlead.dev/internal/scheduler/config"
	"fairlead.dev/internal/scheduler/framework"
	st "fairlead.dev/internal/scheduler/schedulertest"
)

func TestPreemption(t *testing.T) {
	cpu3 := st.Requesting("cpu", "3")
	startedAt := func(minute int) st.PodOption {
		return func(p *corev1.Pod) {
			p.Status.StartTime = &metav1.Time{Time: time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC)}
		}
	}
	guarded := &st.Objects{BudgetList: []*policyv1.PodDisruptionBudget{{
		ObjectMeta: metav1.ObjectMeta{UID: "b"},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: st.Selecting("app", "db")},
	}}}
	for _, tc := range []struct {
		name    string
		objects *st.Objects
		nodes   []*corev1.Node
		there   []*corev1.Pod
		pod     *corev1.Pod
		want    string // node: victims
		err     string
	}{
		{name: "one pod leaves", nodes: st.Nodes(1), there: []*corev1.Pod{st.Pod("q", st.On("n1"), cpu3)}, pod: st.Pod("p", cpu3, st.Priority(10)), want: "n1: q"},
		{name: "no more than needed", nodes: st.Nodes(1),
			there: []*corev1.Pod{st.Pod("a", st.On("n1"), st.Requesting("cpu", "1"), st.Priority(3)), st.Pod("b", st.On("n1"), st.Requesting("cpu", "1"), st.Priority(1)), st.Pod("c", st.On("n1"), st.Requesting("cpu", "2"), st.Priority(2))},
			pod:   st.Pod("p", st.Requesting("cpu", "2"), st.Priority(10)), want: "n1: c"},
		{name: "least important node", nodes: st.Nodes(2),
			there: []*corev1.Pod{st.Pod("a", st.On("n1"), cpu3, st.Priority(5)), st.Pod("b", st.On("n2"), cpu3, st.Priority(4))},
			pod:   st.Pod("p", cpu3, st.Priority(10)), want: "n2: b"},
		{name: "fewest pods", nodes: st.Nodes(2),
			there: []*corev1.Pod{st.Pod("a", st.On("n1"), st.Requesting("cpu", "2")), st.Pod("b", st.On("n1"), st.Requesting("cpu", "2")), st.Pod("c", st.On("n2"), st.Requesting("cpu", "4"))},
			pod:   st.Pod("p", st.Requesting("cpu", "4"), st.Priority(10)), want: "n2: c"},
		{name: "youngest pods", nodes: st.Nodes(2),
			there: []*corev1.Pod{st.Pod("a", st.On("n1"), cpu3, startedAt(1)), st.Pod("b", st.On("n2"), cpu3, startedAt(2))},
			pod:   st.Pod("p", cpu3, st.Priority(10)), want: "n2: b"},
		{name: "budgets are kept", objects: guarded, nodes: st.Nodes(2),
			there: []*corev1.Pod{st.Pod("a", st.On("n1"), cpu3, st.WithLabels("app", "db")), st.Pod("b", st.On("n2"), cpu3, st.Priority(5))},
			pod:   st.Pod("p", cpu3, st.Priority(10)), want: "n2: b"},
		{name: "budgets are broken for want of others", objects: guarded, nodes: st.Nodes(1),
			there: []*corev1.Pod{st.Pod("a", st.On("n1"), cpu3, st.WithLabels("app", "db"))}, pod: st.Pod("p", cpu3, st.Priority(10)), want: "n1: a"},
		{name: "anti-affinity", nodes: st.Nodes(1), there: []*corev1.Pod{st.Pod("q", st.On("n1"), st.WithLabels("app", "web"))},
			pod: st.Pod("p", st.Priority(10), st.Apart(corev1.LabelHostname, st.Selecting("app", "web"))), want: "n1: q"},
		{name: "equals stay", nodes: st.Nodes(1), there: []*corev1.Pod{st.Pod("q", st.On("n1"), cpu3)}, pod: st.Pod("p", cpu3),
			err: "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."},
		{name: "too large anyway", nodes: st.Nodes(1), there: []*corev1.Pod{st.Pod("q", st.On("n1"), cpu3)}, pod: st.Pod("p", st.Requesting("cpu", "5"), st.Priority(10)),
			err: "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."},
		{name: "room is not enough", nodes: st.Nodes(1), there: []*corev1.Pod{st.Pod("q", st.On("n1"), st.Requesting("cpu", "1")), st.Pod("r", st.On("n1"), cpu3, st.Priority(20))},
			pod: st.Pod("p", st.Requesting("cpu", "2"), st.Priority(10)),
			err: "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Insufficient cpu."},
		{name: "never", nodes: st.Nodes(1), there: []*corev1.Pod{st.Pod("q", st.On("n1"), cpu3)},
			pod: st.Pod("p", cpu3, st.Priority(10), func(p *corev1.Pod) { p.Spec.PreemptionPolicy = new(corev1.PreemptNever) }),
			err: "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never."},
		{name: "no node would do", nodes: st.Nodes(1), there: []*corev1.Pod{st.Pod("q", st.On("n1"), cpu3)}, pod: st.Pod("p", st.Priority(10), st.Mounting("none")),
			err: `0/1 nodes are available: persistentvolumeclaim "none" not found.`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := st.NewCluster(tc.objects, tc.nodes, tc.there...)
			before := podsOn(c)
			pl, p := Placer{Profile: config.DefaultProfile()}, cache.NewPodInfo(tc.pod)
			_, err := pl.Place(c, p)
			var fit *framework.FitError
			if !errors.As(err, &fit) {
				t.Fatalf("it fits: %v", err)
			}
			got := ""
			if e := pl.Preempt(c, p, fit); e != nil {
				var victims []string
				for _, v := range e.Victims {
					victims = append(victims, v.Pod.Name)
				}
				got = e.Node.Name + ": " + strings.Join(victims, " ")
			}
			if got != tc.want {
				t.Errorf("evicts %q, want %q", got, tc.want)
			}
			if tc.err != "" && fit.Error() != tc.err {
				t.Errorf("error:\n got %s\nwant %s", fit, tc.err)
			}
			if after := podsOn(c); !slices.Equal(before, after) {
				t.Errorf("the trial left %v of %v", after, before)
			}
		})
	}
}

// podsOn lists the pods on the nodes of a cluster.
func podsOn(c *cache.Cluster) (all []types.UID) {
	for _, n := range c.NodeInfos {
		all = slices.AppendSeq(all, maps.Keys(n.Pods))
	}
	slices.Sort(all)
	return all
}

// A nominated pod's room is kept from pods of lower priority, and no one else.
func TestNomination(t *testing.T) {
	c := st.NewCluster(nil, st.Nodes(2), st.Pod("other", st.On("n2"), st.Requesting("cpu", "4")))
	nominee := st.Pod("nominee", st.Requesting("cpu", "3"), st.Priority(10))
	c.Nominate(cache.NewPodInfo(nominee), "n1")
	for _, tc := range []struct {
		pod *corev1.Pod
		fit bool
	}{
		{st.Pod("low", st.Requesting("cpu", "2"), st.Priority(1)), false},
		{st.Pod("small", st.Requesting("cpu", "1"), st.Priority(1)), true},
		{st.Pod("equal", st.Requesting("cpu", "2"), st.Priority(10)), false},
		{st.Pod("high", st.Requesting("cpu", "2"), st.Priority(11)), true},
		{nominee, true},
	} {
		pl := Placer{Profile: config.DefaultProfile()}
		if n, err := pl.Place(c, cache.NewPodInfo(tc.pod)); (err == nil) != tc.fit {
			t.Errorf("%s: %v, %v", tc.pod.Name, n, err)
		}
		if c.Node("n1").Requested.MilliCPU != 3000 {
			t.Fatalf("after %s the node has %dm requested", tc.pod.Name, c.Node("n1").Requested.MilliCPU)
		}
	}
	c.Withdraw(nominee.UID)
	if c.Node("n1").NumPods() != 0 {
		t.Error("the placeholder stays")
	}
}

// A pod waits for its victims, but not on a node to which it cannot go any more.
func TestLostNomination(t *testing.T) {
	for _, cordoned := range []bool{false, true} {
		all := st.Nodes(2)
		all[0].Spec.Unschedulable = cordoned
		leaving := st.Pod("leaving", st.On("n1"), st.Requesting("cpu", "3"), func(p *corev1.Pod) {
			p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: corev1.PodReasonPreemptionByScheduler}}
		})
		c := st.NewCluster(nil, all, leaving, st.Pod("other", st.On("n2"), st.Requesting("cpu", "3")))
		pl, p := Placer{Profile: config.DefaultProfile()}, cache.NewPodInfo(st.Pod("p", st.Requesting("cpu", "3"), st.Priority(10)))
		c.Nominate(p, "n1")
		_, err := pl.Place(c, p)
		var fit *framework.FitError
		if !errors.As(err, &fit) {
			t.Fatalf("it fits: %v", err)
		}
		room := pl.Preempt(c, p, fit)
		switch {
		case cordoned && (room == nil || room.Node.Name != "n2"):
			t.Errorf("no room is made elsewhere: %v", fit)
		case !cordoned && (room != nil || fit.Preemption != "preemption: not eligible due to a terminating pod on the nominated node."):
			t.Errorf("room is made again: %q", fit.Preemption)
		}
	}
}
