package controlplane_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/internal/resource/gates"
)

// gangs is a control plane with pod groups, whose nodes have 32 CPUs each.
type gangs struct {
	*kubernetes.Clientset
	ctx    context.Context
	config *rest.Config
}

func startGangs(t testing.TB, nodes int, controllers ...string) *gangs {
	t.Helper()
	return startGangsWith(t, nodes, controlplane.Options{Controllers: append(controllers, "nodelifecycle", "podgroupprotection")})
}

// startGangsWith is startGangs with other options.
func startGangsWith(t testing.TB, nodes int, o controlplane.Options) *gangs {
	t.Helper()
	program := os.Getenv(kubeScheduler)
	o.Scheduler, o.Nodes = program == "", nodes
	if o.API.Gates == nil {
		o.API = gangsAPI(t)
	}
	cp := controlplanetest.Start(t, o)
	if program != "" {
		runKubeScheduler(t, program, cp.KubeconfigPath(), o.API)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	g := &gangs{controlplanetest.Clientset(t, cp), ctx, cp.Config()}
	if _, err := g.CoreV1().ServiceAccounts("default").Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for i := range nodes { // a node is ready when a pod runs on it
		p := memberPod(fmt.Sprintf("on-%d", i), "", "0")
		p.Spec.NodeSelector = map[string]string{corev1.LabelHostname: fmt.Sprintf("node-%d", i+1)}
		g.create(t, p)
		g.pod(t, p.Name, "on its node", func(p *corev1.Pod) bool { return p.Spec.NodeName != "" })
		if err := g.CoreV1().Pods("default").Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To(int64(0))}); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// gangsAPI returns the API with pod groups, and with further gates.
func gangsAPI(t testing.TB, more ...string) gates.API {
	t.Helper()
	all, err := gates.New(version.MustParse(gates.Newest))
	if err != nil {
		t.Fatal(err)
	}
	for _, gate := range append([]string{"GenericWorkload", "TopologyAwareWorkloadScheduling"}, more...) {
		if err := all.Set(gate + "=true"); err != nil {
			t.Fatal(err)
		}
	}
	beta := schedulingv1beta1.SchemeGroupVersion
	asked := []schema.GroupVersionResource{beta.WithResource("podgroups"), beta.WithResource("workloads")}
	if slices.Contains(more, "CompositePodGroup") {
		asked = append(asked, schedulingv1alpha3.SchemeGroupVersion.WithResource("compositepodgroups"))
	}
	return gates.API{Gates: all, Asked: asked}
}

func memberPod(name, group, cpu string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"group": group}}, Spec: corev1.PodSpec{
		AutomountServiceAccountToken: ptr.To(false),
		Containers: []corev1.Container{{Name: "main", Image: "web", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu)},
		}}},
	}}
	if group != "" {
		p.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &group}
	}
	return p
}

func (g *gangs) create(t testing.TB, p *corev1.Pod) {
	t.Helper()
	made, err := g.CoreV1().Pods("default").Create(g.ctx, p, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if p.Spec.SchedulingGroup != nil && made.Spec.SchedulingGroup == nil {
		t.Fatal("the pod has lost its group")
	}
}

// gang creates a group that needs so many pods; 0 makes it a basic one.
func (g *gangs) gang(t testing.TB, name string, minCount int32, class string, all bool) {
	t.Helper()
	pg := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: schedulingv1beta1.PodGroupSpec{PriorityClassName: class}}
	if minCount > 0 {
		pg.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: minCount}
	} else {
		pg.Spec.SchedulingPolicy.Basic = &schedulingv1beta1.BasicSchedulingPolicy{}
	}
	if all {
		pg.Spec.DisruptionMode = &schedulingv1beta1.DisruptionMode{All: &schedulingv1beta1.AllDisruptionMode{}}
	}
	if _, err := g.SchedulingV1beta1().PodGroups("default").Create(g.ctx, pg, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// pods creates members of a group.
func (g *gangs) pods(t testing.TB, group string, n int, cpu, class string) {
	t.Helper()
	for i := range n {
		p := memberPod(fmt.Sprintf("%s-%d", group, i), group, cpu)
		p.Spec.PriorityClassName = class
		g.create(t, p)
	}
}

// pod waits until a pod is as it should be.
func (g *gangs) pod(t testing.TB, name, what string, ok func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	w, err := g.CoreV1().Pods("default").Watch(g.ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	var last *corev1.Pod
	for e := range w.ResultChan() {
		if last, _ = e.Object.(*corev1.Pod); last != nil && ok(last) {
			return last
		}
	}
	t.Fatalf("the pod %s is never %s: %+v", name, what, last)
	return nil
}

// removed waits until a pod is gone.
func (g *gangs) removed(t testing.TB, name string) {
	t.Helper()
	w, err := g.CoreV1().Pods("default").Watch(g.ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if _, err := g.CoreV1().Pods("default").Get(g.ctx, name, metav1.GetOptions{}); apierrors.IsNotFound(err) {
		return
	}
	for e := range w.ResultChan() {
		if e.Type == "DELETED" {
			return
		}
	}
	t.Fatalf("%s stays", name)
}

// group waits for a condition of a group.
func (g *gangs) group(t testing.TB, name string, status metav1.ConditionStatus, reason string) *metav1.Condition {
	t.Helper()
	w, err := g.SchedulingV1beta1().PodGroups("default").Watch(g.ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	var last *schedulingv1beta1.PodGroup
	for e := range w.ResultChan() {
		last, _ = e.Object.(*schedulingv1beta1.PodGroup)
		if last == nil {
			continue
		}
		if c := apimeta.FindStatusCondition(last.Status.Conditions, schedulingv1beta1.PodGroupInitiallyScheduled); c != nil && c.Status == status && c.Reason == reason {
			return c
		}
	}
	t.Fatalf("the group %s never has the condition %s %s: %+v", name, status, reason, last)
	return nil
}

func (g *gangs) bound(t testing.TB, group string, n int) {
	t.Helper()
	for i := range n {
		g.pod(t, fmt.Sprintf("%s-%d", group, i), "bound", func(p *corev1.Pod) bool { return p.Spec.NodeName != "" })
	}
}

// on returns how many pods of a group have nodes.
func (g *gangs) on(t testing.TB, group string) (n int) {
	t.Helper()
	list, err := g.CoreV1().Pods("default").List(g.ctx, metav1.ListOptions{LabelSelector: "group=" + group})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list.Items {
		if p.Spec.NodeName != "" && p.DeletionTimestamp == nil {
			n++
		}
	}
	return n
}

func (g *gangs) class(t testing.TB, name string, value int32) {
	t.Helper()
	if _, err := g.SchedulingV1().PriorityClasses().Create(g.ctx, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// TestGangs: the pods of a gang wait for each other, a gang that does not fit has no pod on a node and holds nobody up, and it
// is placed when its minCount falls.
func TestGangs(t *testing.T) {
	g := startGangs(t, 2)
	g.gang(t, "early", 3, "", false)
	g.pods(t, "early", 2, "1", "")
	g.pods(t, "orphan", 1, "1", "")
	g.gang(t, "large", 5, "", false)
	g.pods(t, "large", 5, "16", "") // two nodes have room for four
	c := g.group(t, "large", metav1.ConditionFalse, "Unschedulable")
	const want = "minCount (5) cannot be satisfied: 4 scheduled, 0 remaining, pod group preemption: No preemption victims found for incoming preemptor"
	if c.Message != want {
		t.Errorf("the condition is %q, want %q", c.Message, want)
	}
	p := g.pod(t, "large-0", "unschedulable", func(p *corev1.Pod) bool { return len(p.Status.Conditions) > 0 })
	if c := p.Status.Conditions[0]; c.Reason != corev1.PodReasonUnschedulable || c.Message != "pod group is unschedulable, "+want {
		t.Errorf("the condition of the pod is %+v", c)
	}
	g.create(t, memberPod("plain", "", "16"))
	g.pod(t, "plain", "bound", func(p *corev1.Pod) bool { return p.Spec.NodeName != "" })
	if n := g.on(t, "early") + g.on(t, "large") + g.on(t, "orphan"); n != 0 {
		t.Errorf("%d pods that wait have nodes", n)
	}
	g.create(t, memberPod("early-2", "early", "1"))
	g.bound(t, "early", 3)
	g.group(t, "early", metav1.ConditionTrue, "Scheduled")
	g.gang(t, "orphan", 0, "", false) // its pod waited for it
	g.bound(t, "orphan", 1)
	large, err := g.SchedulingV1beta1().PodGroups("default").Get(g.ctx, "large", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	large.Spec.SchedulingPolicy.Gang.MinCount = 2
	if _, err := g.SchedulingV1beta1().PodGroups("default").Update(g.ctx, large, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	g.group(t, "large", metav1.ConditionTrue, "Scheduled")
}

// TestGangsCompete: of two gangs for which there is room only once, one runs whole, and the other when that is gone.
func TestGangsCompete(t *testing.T) {
	g := startGangs(t, 2)
	for _, name := range []string{"a", "b"} {
		g.gang(t, name, 4, "", false)
	}
	for i := range 4 { // in turns
		g.create(t, memberPod(fmt.Sprintf("a-%d", i), "a", "16"))
		g.create(t, memberPod(fmt.Sprintf("b-%d", i), "b", "16"))
	}
	g.bound(t, "a", 4) // complete first
	g.group(t, "b", metav1.ConditionFalse, "Unschedulable")
	if n := g.on(t, "b"); n != 0 {
		t.Errorf("%d pods of the other gang have nodes", n)
	}
	if err := g.CoreV1().Pods("default").DeleteCollection(g.ctx, metav1.DeleteOptions{GracePeriodSeconds: ptr.To(int64(0))}, metav1.ListOptions{LabelSelector: "group=a"}); err != nil {
		t.Fatal(err)
	}
	g.bound(t, "b", 4)
}

// TestGangPreempts: a gang preempts pods of a lower priority, of a group with the disruption mode All all of them, and a pod
// preempts such a group likewise.
func TestGangPreempts(t *testing.T) {
	g := startGangs(t, 2)
	g.class(t, "high", 100)
	g.class(t, "higher", 200)
	g.gang(t, "low", 2, "", true)
	g.pods(t, "low", 2, "20", "") // one on each node
	g.bound(t, "low", 2)
	g.gang(t, "high", 2, "high", true)
	g.pods(t, "high", 2, "20", "high")
	g.bound(t, "high", 2)
	for i := range 2 { // which have ended before, and go now
		g.removed(t, fmt.Sprintf("low-%d", i))
	}
	p := memberPod("single", "", "20")
	p.Spec.PriorityClassName = "higher"
	g.create(t, p)
	g.pod(t, "single", "bound", func(p *corev1.Pod) bool { return p.Spec.NodeName != "" })
	for i := range 2 { // the group is evicted as one
		g.removed(t, fmt.Sprintf("high-%d", i))
	}
}

// TestManyGangs schedules 50 gangs of 20 pods, whose pods come in turns.
func TestManyGangs(t *testing.T) {
	const many, size = 50, 20
	g := startGangs(t, 10) // 110 pods fit on each
	for i := range many {
		g.gang(t, fmt.Sprintf("g%d", i), size, "", false)
	}
	for k := range size {
		for i := range many {
			g.create(t, memberPod(fmt.Sprintf("g%d-%d", i, k), fmt.Sprintf("g%d", i), "100m"))
		}
	}
	for i := range many {
		g.group(t, fmt.Sprintf("g%d", i), metav1.ConditionTrue, "Scheduled")
		g.bound(t, fmt.Sprintf("g%d", i), size)
	}
}

// TestGroupProtection: a group that pods name stays until they are gone.
func TestGroupProtection(t *testing.T) {
	g := startGangs(t, 1)
	g.gang(t, "used", 0, "", false)
	g.pods(t, "used", 1, "1", "")
	g.bound(t, "used", 1)
	groups := g.SchedulingV1beta1().PodGroups("default")
	if err := groups.Delete(g.ctx, "used", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	kept, err := groups.Get(g.ctx, "used", metav1.GetOptions{})
	if err != nil || kept.DeletionTimestamp == nil || len(kept.Finalizers) != 1 || kept.Finalizers[0] != "scheduling.k8s.io/podgroup-protection" {
		t.Fatalf("%v %+v", err, kept)
	}
	w, err := groups.Watch(g.ctx, metav1.ListOptions{ResourceVersion: kept.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if err := g.CoreV1().Pods("default").Delete(g.ctx, "used-0", metav1.DeleteOptions{GracePeriodSeconds: ptr.To(int64(0))}); err != nil {
		t.Fatal(err)
	}
	for e := range w.ResultChan() {
		if e.Type == "DELETED" {
			return
		}
	}
	t.Error("the group stays")
}
