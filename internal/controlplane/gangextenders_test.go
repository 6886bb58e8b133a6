package controlplane_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/scheduler"
)

const slots = "example.com/slots"

// slotExtender is an HTTP extender that is interested in the pods that request slots.
type slotExtender struct {
	*httptest.Server
	t    *testing.T
	gone chan struct{} // closed at the end, for calls that hang
	mu   sync.Mutex
	// refuse returns the reason against a node, or ""; err ends the call with an error. A call may hang until done.
	refuse func(pod, node string, done <-chan struct{}) (reason string, err string)
	scores extenderv1.HostPriorityList
	bind   func(*extenderv1.ExtenderBindingArgs) error
}

// startGangsWithExtender is startGangs with an extender that has nothing against any node.
func startGangsWithExtender(t *testing.T, nodes int, gates ...string) (*gangs, *slotExtender) {
	x := &slotExtender{t: t, gone: make(chan struct{})}
	x.refusing("")
	x.Server = httptest.NewServer(x)
	t.Cleanup(func() { close(x.gone); x.Close() })
	config, err := scheduler.LoadConfig(fmt.Appendf(nil, `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 1
extenders:
- {urlPrefix: %q, filterVerb: filter, prioritizeVerb: prioritize, bindVerb: bind, weight: 100, httpTimeout: 1h, nodeCacheCapable: true,
   managedResources: [{name: %s, ignoredByScheduler: true}]}
`, x.URL, slots))
	if err != nil {
		t.Fatal(err)
	}
	g := startGangsWith(t, nodes, controlplane.Options{API: gangsAPI(t, gates...), Scheduling: config, Controllers: []string{"nodelifecycle", "podgroupprotection"}})
	x.set(func() {
		x.bind = func(q *extenderv1.ExtenderBindingArgs) error {
			return g.CoreV1().Pods(q.PodNamespace).Bind(g.ctx, &corev1.Binding{
				ObjectMeta: metav1.ObjectMeta{Namespace: q.PodNamespace, Name: q.PodName, UID: q.PodUID},
				Target:     corev1.ObjectReference{Kind: "Node", Name: q.Node},
			}, metav1.CreateOptions{})
		}
	})
	return g, x
}

// answer sets the answers of the filter.
func (x *slotExtender) answer(refuse func(pod, node string, done <-chan struct{}) (reason, err string)) {
	x.set(func() { x.refuse = refuse })
}

// set changes the extender while no call reads it.
func (x *slotExtender) set(change func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	change()
}

// refusing lets the filter refuse some nodes.
func (x *slotExtender) refusing(nodes ...string) {
	x.answer(func(_, node string, _ <-chan struct{}) (reason, err string) {
		for _, refused := range nodes {
			if node == refused {
				return "no slot", ""
			}
		}
		return "", ""
	})
}

func (x *slotExtender) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x.mu.Lock()
	refuse, scores, bind := x.refuse, x.scores, x.bind
	x.mu.Unlock()
	decode := func(question any) {
		if err := json.NewDecoder(r.Body).Decode(question); err != nil {
			x.t.Error(err)
		}
	}
	var answer any
	switch r.URL.Path {
	case "/filter":
		var q extenderv1.ExtenderArgs
		decode(&q)
		result := extenderv1.ExtenderFilterResult{NodeNames: &[]string{}, FailedNodes: extenderv1.FailedNodesMap{}}
		for _, node := range *q.NodeNames {
			reason, err := refuse(q.Pod.Name, node, x.gone)
			switch {
			case err != "":
				result.Error = err
			case reason != "":
				result.FailedNodes[node] = reason
			default:
				*result.NodeNames = append(*result.NodeNames, node)
			}
		}
		answer = result
	case "/prioritize":
		answer = scores
	case "/bind":
		var q extenderv1.ExtenderBindingArgs
		decode(&q)
		var result extenderv1.ExtenderBindingResult
		if err := bind(&q); err != nil {
			result.Error = err.Error()
		}
		answer = result
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // an error is that the scheduler has given up
}

// wanting creates members of a group that request a slot each.
func (g *gangs) wanting(t *testing.T, group, cpu, class string, names ...string) {
	t.Helper()
	for _, name := range names {
		p := memberPod(name, group, cpu)
		p.Spec.PriorityClassName = class
		one := corev1.ResourceList{slots: resource.MustParse("1")}
		p.Spec.Containers[0].Resources.Requests[slots], p.Spec.Containers[0].Resources.Limits = one[slots], one
		g.create(t, p)
	}
}

// node waits until a pod has a node.
func (g *gangs) node(t *testing.T, pod string) string {
	t.Helper()
	return g.pod(t, pod, "bound", func(p *corev1.Pod) bool { return p.Spec.NodeName != "" }).Spec.NodeName
}

// label makes an event of a node.
func (g *gangs) label(t *testing.T, node, key, value string) {
	t.Helper()
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`, key, value)
	if _, err := g.CoreV1().Nodes().Patch(g.ctx, node, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
}

// message waits until the condition of a pod has a message.
func (g *gangs) message(t *testing.T, pod, reason, message string) {
	t.Helper()
	g.pod(t, pod, reason+": "+message, func(p *corev1.Pod) bool {
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.PodScheduled && c.Reason == reason && c.Message == message {
				return true
			}
		}
		return false
	})
}

// TestGangAndExtender: the pods of a gang run on nodes that an extender leaves, on those that it prefers, and the extender binds them.
func TestGangAndExtender(t *testing.T) {
	g, x := startGangsWithExtender(t, 3)
	bound, bind := make(chan string, 10), x.bind
	x.set(func() {
		x.bind = func(q *extenderv1.ExtenderBindingArgs) error { bound <- q.PodName; return bind(q) }
	})
	x.refusing("node-1")
	g.gang(t, "pair", 2, "", false)
	g.wanting(t, "pair", "20", "", "a", "b") // a node has room for one
	if a, b := g.node(t, "a"), g.node(t, "b"); a == b || a == "node-1" || b == "node-1" {
		t.Errorf("on %s and %s", a, b)
	}
	g.group(t, "pair", metav1.ConditionTrue, "Scheduled")
	if got := []string{<-bound, <-bound}; got[0] == got[1] {
		t.Errorf("the extender has bound %v", got)
	}
	x.refusing()
	x.set(func() { x.scores = extenderv1.HostPriorityList{{Host: "node-3", Score: 10}} })
	g.gang(t, "small", 3, "", false)
	g.wanting(t, "small", "1", "", "c", "d", "e")
	for _, name := range []string{"c", "d", "e"} {
		if on := g.node(t, name); on != "node-3" {
			t.Errorf("%s is on %s", name, on)
		}
	}
}

// TestGangWaitsForExtender: while an extender thinks about a gang, other pods and gangs are scheduled, and members may come and go.
func TestGangWaitsForExtender(t *testing.T) {
	g, x := startGangsWithExtender(t, 2)
	asked := make(chan struct{}, 100)
	x.answer(func(pod, _ string, done <-chan struct{}) (reason, err string) {
		if pod == "hanging" {
			asked <- struct{}{}
			<-done
		}
		return "", ""
	})
	g.gang(t, "stuck", 2, "", false)
	g.wanting(t, "stuck", "1", "", "hanging", "first")
	<-asked
	g.gang(t, "other", 2, "", false)
	g.pods(t, "other", 2, "1", "")
	g.bound(t, "other", 2)
	g.wanting(t, "stuck", "1", "", "second")
	g.create(t, memberPod("plain", "", "1"))
	g.node(t, "plain")
	if n := g.on(t, "stuck"); n != 0 {
		t.Errorf("%d pods that wait have nodes", n)
	}
	if err := g.CoreV1().Pods("default").Delete(g.ctx, "hanging", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	g.node(t, "first")
	g.node(t, "second")
}

// TestGangGoesWhileAsked: a gang whose pods are deleted while an extender is asked about them does not hold up the next one.
func TestGangGoesWhileAsked(t *testing.T) {
	g, x := startGangsWithExtender(t, 1)
	asked := make(chan struct{}, 100)
	x.answer(func(pod, _ string, done <-chan struct{}) (reason, err string) {
		if strings.HasPrefix(pod, "hanging") {
			asked <- struct{}{}
			<-done
		}
		return "", ""
	})
	g.gang(t, "stuck", 2, "", false)
	g.wanting(t, "stuck", "1", "", "hanging-1", "hanging-2")
	g.gang(t, "next", 1, "", false)
	<-asked
	g.wanting(t, "next", "1", "", "patient")
	for _, name := range []string{"hanging-1", "hanging-2"} {
		if err := g.CoreV1().Pods("default").Delete(g.ctx, name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	g.node(t, "patient")
}

// TestExtenderFailsGang: an extender's error is the group's and that of the pod it was asked about, and the group is tried again.
func TestExtenderFailsGang(t *testing.T) {
	g, x := startGangsWithExtender(t, 1)
	x.answer(func(string, string, <-chan struct{}) (reason, err string) { return "", "no database" })
	g.gang(t, "pair", 2, "", false)
	g.wanting(t, "pair", "1", "", "a", "b")
	const others = "failed to schedule other pod from a pod group: no database"
	if c := g.group(t, "pair", metav1.ConditionFalse, "SchedulerError"); c.Message != others {
		t.Errorf("the condition is %q", c.Message)
	}
	g.message(t, "a", corev1.PodReasonSchedulerError, "no database")
	g.message(t, "b", corev1.PodReasonSchedulerError, others)
	x.refusing()
	g.node(t, "a")
	g.node(t, "b")
}

// TestExtenderRefusesGang: a gang for which an extender leaves too little room waits with the extender's reason, and runs when an event
// makes the scheduler ask again.
func TestExtenderRefusesGang(t *testing.T) {
	g, x := startGangsWithExtender(t, 2)
	x.refusing("node-2")
	g.gang(t, "pair", 2, "", false)
	g.wanting(t, "pair", "20", "", "a", "b")
	const want = "minCount (2) cannot be satisfied: 1 scheduled, 0 remaining, pod group preemption: No preemption victims found for incoming preemptor"
	if c := g.group(t, "pair", metav1.ConditionFalse, "Unschedulable"); c.Message != want {
		t.Errorf("the condition is %q", c.Message)
	}
	g.message(t, "a", corev1.PodReasonUnschedulable, "pod group is unschedulable, "+want)
	g.message(t, "b", corev1.PodReasonUnschedulable, "0/2 nodes are available: 1 Insufficient cpu, 1 no slot.")
	g.create(t, memberPod("plain", "", "30")) // the gang takes no room
	g.node(t, "plain")
	if err := g.CoreV1().Pods("default").Delete(g.ctx, "plain", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	g.removed(t, "plain")
	if n := g.on(t, "pair"); n != 0 {
		t.Errorf("%d pods that wait have nodes", n)
	}
	x.refusing()
	g.label(t, "node-2", "slots", "new")
	g.node(t, "a")
	g.node(t, "b")
}

// TestEventWhileGangIsAsked: a gang that an extender refuses is asked about again because of an event that came during the call.
func TestEventWhileGangIsAsked(t *testing.T) {
	g, x := startGangsWithExtender(t, 1)
	asked, reject := make(chan struct{}, 100), make(chan struct{})
	x.answer(func(_, _ string, done <-chan struct{}) (reason, err string) {
		asked <- struct{}{}
		select {
		case <-reject:
		case <-done:
		}
		return "no slot", ""
	})
	g.gang(t, "lone", 1, "", false)
	g.wanting(t, "lone", "1", "", "web")
	<-asked
	x.refusing()
	g.label(t, "node-1", "slots", "new")
	probe := memberPod("probe", "", "1") // which fits once the scheduler knows of the event
	probe.Spec.NodeSelector = map[string]string{"slots": "new"}
	g.create(t, probe)
	g.node(t, "probe")
	close(reject)
	g.node(t, "web")
}

// TestGangPreemptsByExtender: a gang preempts pods only on nodes that the extender leaves it.
func TestGangPreemptsByExtender(t *testing.T) {
	g, x := startGangsWithExtender(t, 3)
	g.class(t, "high", 100)
	for i := range 3 {
		p := memberPod(fmt.Sprintf("low-%d", i+1), "", "20")
		p.Spec.NodeSelector = map[string]string{corev1.LabelHostname: fmt.Sprintf("node-%d", i+1)}
		g.create(t, p)
		g.node(t, p.Name)
	}
	x.refusing("node-1", "node-2", "node-3")
	g.gang(t, "refused", 1, "high", false)
	g.wanting(t, "refused", "20", "high", "refused")
	g.message(t, "refused", corev1.PodReasonUnschedulable, "0/3 nodes are available: 3 Insufficient cpu.")
	if c := g.group(t, "refused", metav1.ConditionFalse, "Unschedulable"); c.Message != "minCount (1) cannot be satisfied: 0 scheduled, 0 remaining, pod group preemption: minCount (1) cannot be satisfied: 0 scheduled, 0 remaining" {
		t.Errorf("the condition is %q", c.Message)
	}
	if err := g.CoreV1().Pods("default").Delete(g.ctx, "refused", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	x.refusing("node-1")
	g.gang(t, "pair", 2, "high", false)
	g.wanting(t, "pair", "20", "high", "a", "b")
	if a, b := g.node(t, "a"), g.node(t, "b"); a == b || a == "node-1" || b == "node-1" {
		t.Errorf("on %s and %s", a, b)
	}
	g.removed(t, "low-2")
	g.removed(t, "low-3")
	if p, err := g.CoreV1().Pods("default").Get(g.ctx, "low-1", metav1.GetOptions{}); err != nil || p.DeletionTimestamp != nil {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestExtenderFailsPreemptingGang: an extender's error about the nodes of a preemption is the group's.
func TestExtenderFailsPreemptingGang(t *testing.T) {
	g, x := startGangsWithExtender(t, 1)
	g.class(t, "high", 100)
	g.create(t, memberPod("low", "", "20"))
	g.node(t, "low")
	x.answer(func(string, string, <-chan struct{}) (reason, err string) { return "", "no database" })
	g.gang(t, "lone", 1, "high", false)
	g.wanting(t, "lone", "20", "high", "a")
	const want = `error in "DefaultPreemption" PodGroupPostFilter plugins: pod group preemption: failed to schedule other pod from a pod group: no database`
	if c := g.group(t, "lone", metav1.ConditionFalse, "SchedulerError"); c.Message != want {
		t.Errorf("the condition is %q", c.Message)
	}
	g.message(t, "a", corev1.PodReasonSchedulerError, want)
	x.refusing()
	g.node(t, "a")
}

// TestCompositeAndExtender: the groups of a composite run in the rack in which an extender leaves room for all of them.
func TestCompositeAndExtender(t *testing.T) {
	g, x := startGangsWithExtender(t, 4, "CompositePodGroup")
	for node, rack := range map[string]string{"node-1": "a", "node-2": "a", "node-3": "b", "node-4": "b"} {
		g.label(t, node, "rack", rack)
	}
	x.refusing("node-2")
	composite := &schedulingv1alpha3.CompositePodGroup{ObjectMeta: metav1.ObjectMeta{Name: "root"}, Spec: schedulingv1alpha3.CompositePodGroupSpec{
		WorkloadRef:           &schedulingv1alpha3.WorkloadReference{WorkloadName: "w", TemplateName: "t"},
		SchedulingPolicy:      schedulingv1alpha3.CompositePodGroupSchedulingPolicy{Gang: &schedulingv1alpha3.CompositeGangSchedulingPolicy{MinGroupCount: 2}},
		SchedulingConstraints: &schedulingv1alpha3.CompositePodGroupSchedulingConstraints{Topology: []schedulingv1alpha3.TopologyConstraint{{Key: "rack"}}},
	}}
	if _, err := g.SchedulingV1alpha3().CompositePodGroups("default").Create(g.ctx, composite, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"left", "right"} {
		pg := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: schedulingv1beta1.PodGroupSpec{
			ParentCompositePodGroupName: &composite.Name,
			WorkloadRef:                 &schedulingv1beta1.WorkloadReference{WorkloadName: "w", TemplateName: name},
			SchedulingPolicy:            schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: 1}},
		}}
		if _, err := g.SchedulingV1beta1().PodGroups("default").Create(g.ctx, pg, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		g.wanting(t, name, "20", "", "in-"+name)
	}
	if left, right := g.node(t, "in-left"), g.node(t, "in-right"); left == right || !strings.Contains("node-3 node-4", left) || !strings.Contains("node-3 node-4", right) {
		t.Errorf("on %s and %s", left, right)
	}
}
