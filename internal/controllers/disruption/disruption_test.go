package disruption_test

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

var labels = map[string]string{"app": "web"}

func template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
	}
}

func budget(spec policyv1.PodDisruptionBudgetSpec) *policyv1.PodDisruptionBudget {
	spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	return &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"}, Spec: spec}
}

func counts(healthy, desired, expected, allowed int32) func(*policyv1.PodDisruptionBudget) bool {
	return func(b *policyv1.PodDisruptionBudget) bool {
		s := b.Status
		return s.ObservedGeneration == b.Generation && s.CurrentHealthy == healthy && s.DesiredHealthy == desired &&
			s.ExpectedPods == expected && s.DisruptionsAllowed == allowed && len(s.DisruptedPods) == 0
	}
}

func TestEvictionsStayWithinTheBudget(t *testing.T) {
	c := testenv.New(t, testenv.Options{}).Client(t)
	pods := client.For[*corev1.Pod](c).Namespace("default")
	budgets := client.For[*policyv1.PodDisruptionBudget](c).Namespace("default")
	deployments := client.For[*appsv1.Deployment](c).Namespace("default")

	n := int32(4)
	if _, err := deployments.Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"},
		Spec:       appsv1.DeploymentSpec{Replicas: &n, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template()},
	}); err != nil {
		t.Fatal(err)
	}
	quarter := intstr.FromString("25%")
	if _, err := budgets.Create(t.Context(), budget(policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &quarter})); err != nil {
		t.Fatal(err)
	}
	b := waittest.One(t, budgets, "web", "one disruption allowed", counts(4, 3, 4, 1))
	if !meta.IsStatusConditionTrue(b.Status.Conditions, policyv1.DisruptionAllowedCondition) {
		t.Errorf("conditions %+v", b.Status.Conditions)
	}

	// Nodes are cordoned, so that an evicted pod is not replaced by a healthy one.
	nodes := client.For[*corev1.Node](c)
	list, err := nodes.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range list.Items {
		if _, err := nodes.Patch(t.Context(), node.Name, client.MergePatch(map[string]any{"spec": map[string]any{"unschedulable": true}})); err != nil {
			t.Fatal(err)
		}
		awaitCordon(t, pods, node.Name)
	}
	running, err := pods.List(t.Context(), metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: labels})})
	if err != nil {
		t.Fatal(err)
	}
	evict := func(i int) error {
		name := running.Items[i].Name
		return pods.CreateSubresource(t.Context(), name, "eviction", &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}, nil)
	}
	if err := evict(0); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, budgets, "web", "none allowed", counts(3, 3, 4, 0))
	if err := evict(1); !apierrors.IsTooManyRequests(err) {
		t.Fatalf("a second eviction: %v", err)
	}
	// The desired number is lower, so one more may be evicted.
	if _, err := deployments.Patch(t.Context(), "web", client.MergePatch(map[string]any{"spec": map[string]any{"replicas": 3}})); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, budgets, "web", "one allowed of three", counts(3, 2, 3, 1))
	if err := evict(1); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, budgets, "web", "none allowed of three", counts(2, 2, 3, 0))
}

// awaitCordon sends pods to a cordoned node until one is rejected: the scheduler has seen the cordon.
func awaitCordon(t *testing.T, pods client.Resource[*corev1.Pod], node string) {
	t.Helper()
	for refused := false; !refused; {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "to-" + node, Namespace: "default"}, Spec: template().Spec}
		p.Spec.NodeSelector = map[string]string{corev1.LabelHostname: node}
		if _, err := pods.Create(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		p = waittest.One(t, pods, p.Name, "taken or refused", func(p *corev1.Pod) bool {
			return len(p.Status.Conditions) > 0
		})
		refused = p.Spec.NodeName == ""
		if err := pods.Delete(t.Context(), p.Name); err != nil {
			t.Fatal(err)
		}
		waittest.Gone(t, pods, p.Name)
	}
}

func TestWhatCannotBeComputedAllowsNothing(t *testing.T) {
	c := testenv.New(t, testenv.Options{}).Client(t)
	pods := client.For[*corev1.Pod](c).Namespace("default")
	budgets := client.For[*policyv1.PodDisruptionBudget](c).Namespace("default")
	for i := range 2 {
		if _, err := pods.Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("web-", i), Namespace: "default", Labels: labels}, Spec: template().Spec}); err != nil {
			t.Fatal(err)
		}
	}
	one, half := intstr.FromInt32(1), intstr.FromString("50%")
	if _, err := budgets.Create(t.Context(), budget(policyv1.PodDisruptionBudgetSpec{MinAvailable: &one})); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, budgets, "web", "pods of nobody, counted", counts(2, 1, 2, 1))
	if err := budgets.Delete(t.Context(), "web"); err != nil {
		t.Fatal(err)
	}
	if _, err := budgets.Create(t.Context(), budget(policyv1.PodDisruptionBudgetSpec{MinAvailable: &half})); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, budgets, "web", "pods of nobody, not expected", counts(2, 0, 0, 0))

	// A pod whose controller has no scale.
	p, err := pods.Get(t.Context(), "web-0")
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	if _, err := pods.Patch(t.Context(), "web-1", client.MergePatch(map[string]any{"metadata": map[string]any{"ownerReferences": []any{
		map[string]any{"apiVersion": "v1", "kind": "Pod", "name": "web-0", "uid": p.UID, "controller": yes}}}})); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, budgets, "web", "the failure", func(b *policyv1.PodDisruptionBudget) bool {
		c := meta.FindStatusCondition(b.Status.Conditions, policyv1.DisruptionAllowedCondition)
		return b.Status.DisruptionsAllowed == 0 && c != nil && c.Reason == policyv1.SyncFailedReason &&
			c.Message == "pods does not implement the scale subresource"
	})
}

// TestSeveralBudgets checks that a pod selected by several budgets gets a warning event.
func TestSeveralBudgets(t *testing.T) {
	c := testenv.New(t, testenv.Options{}).Client(t)
	budgets := client.For[*policyv1.PodDisruptionBudget](c).Namespace("default")
	one := intstr.FromInt32(1)
	for _, name := range []string{"first", "second"} {
		b := budget(policyv1.PodDisruptionBudgetSpec{MinAvailable: &one})
		b.Name = name
		if _, err := budgets.Create(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		waittest.One(t, budgets, name, "seen", func(b *policyv1.PodDisruptionBudget) bool { return b.Status.ObservedGeneration == b.Generation })
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", Labels: labels}, Spec: template().Spec}
	waittest.One(t, client.For[*corev1.ServiceAccount](c).Namespace("default"), "default", "there", func(*corev1.ServiceAccount) bool { return true })
	if _, err := client.For[*corev1.Pod](c).Namespace("default").Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	events := client.For[*corev1.Event](c).Namespace("default")
	w, err := events.Watch(t.Context(), metav1.ListOptions{FieldSelector: "reason=MultiplePodDisruptionBudgets"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	ev, err := w.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const before, after = `Pod "default"/"web" matches multiple PodDisruptionBudgets.  Chose "`, `" arbitrarily.`
	if m := ev.Object.Message; m != before+"first"+after && m != before+"second"+after {
		t.Error(m)
	}
}

// A pod with a DisruptionTarget condition that is still running gets it reset after two minutes, unless its kubelet
// is about to terminate it.
func TestSparedPods(t *testing.T) {
	c := testenv.New(t, testenv.Options{NoScheduler: true, NoNodes: true, Controllers: []string{"disruption", "serviceaccount"}}).Client(t)
	pods := client.For[*corev1.Pod](c).Namespace("default")
	waittest.One(t, client.For[*corev1.ServiceAccount](c).Namespace("default"), "default", "the account", func(*corev1.ServiceAccount) bool { return true })
	target := func(p *corev1.Pod) corev1.PodCondition {
		for _, c := range p.Status.Conditions {
			if c.Type == corev1.DisruptionTarget {
				return c
			}
		}
		return corev1.PodCondition{}
	}
	for _, reason := range []string{"TerminationByKubelet", "EvictionByEvictionAPI"} { // in this order
		name := "kubelets"
		if reason == "EvictionByEvictionAPI" {
			name = "spared"
		}
		p, err := pods.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: template().Spec})
		if err != nil {
			t.Fatal(err)
		}
		p.Status.Phase = corev1.PodRunning
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: reason,
			LastTransitionTime: metav1.NewTime(time.Now().Add(-3 * time.Minute))}}
		if _, err := pods.UpdateStatus(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	waittest.One(t, pods, "spared", "to be spared", func(p *corev1.Pod) bool {
		c := target(p)
		return c.Status == corev1.ConditionFalse && c.Reason == "" && c.ObservedGeneration == p.Generation
	})
	if p, err := pods.Get(t.Context(), "kubelets"); err != nil || target(p).Status != corev1.ConditionTrue {
		t.Fatal(p, err)
	}
}
