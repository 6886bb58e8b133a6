package scheduler_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/testenv"
)

func pod(name string, cpu string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu)},
		}}}},
	}
}

// account waits for the service account that pods run as.
func account(t testing.TB, c *client.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	w, err := client.For[*corev1.ServiceAccount](c).Namespace("default").Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=default"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if _, err := w.Next(ctx); err != nil {
		t.Fatal(err)
	}
}

func await[T client.Object](t *testing.T, of client.Resource[T], name string, what string, ok func(T) bool) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	w, err := of.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	var last T
	for {
		ev, err := w.Next(ctx)
		if err != nil {
			t.Fatalf("%s: never %s: %v; last seen %+v", name, what, err, last)
		}
		if last = ev.Object; ok(last) {
			return last
		}
	}
}

func running(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning }

// held waits until a pod is held back with that message. It may have had another before:
// nodes are not ready, to the scheduler, until it has seen that their first taint went.
func held(t *testing.T, pods client.Resource[*corev1.Pod], name, message string) corev1.PodCondition {
	t.Helper()
	p := await(t, pods, name, "held back with: "+message, func(p *corev1.Pod) bool {
		return len(p.Status.Conditions) > 0 && p.Status.Conditions[0].Message == message
	})
	return p.Status.Conditions[0]
}

func TestAgainstServer(t *testing.T) {
	env := testenv.New(t, testenv.Options{Controllers: []string{"serviceaccount", "nodelifecycle"}, Nodes: 2})
	ctx, c := t.Context(), env.Client(t)
	account(t, c)
	pods := client.For[*corev1.Pod](c).Namespace("default")
	create := func(p *corev1.Pod) {
		t.Helper()
		if _, err := pods.Create(ctx, p); err != nil {
			t.Fatal(err)
		}
	}
	create(pod("first", "20"))
	first := await(t, pods, "first", "running", running)
	for _, node := range []string{"node-1", "node-2"} { // each pod proves that its node is known
		p := pod("on-"+node, "1")
		p.Spec.NodeSelector = map[string]string{corev1.LabelHostname: node}
		create(p)
		await(t, pods, p.Name, "running", running)
	}

	create(pod("huge", "33"))
	cond := held(t, pods, "huge", "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.")
	if cond.Type != corev1.PodScheduled || cond.Status != corev1.ConditionFalse || cond.Reason != "Unschedulable" {
		t.Errorf("condition %+v", cond)
	}

	create(pod("second", "20"))
	second := await(t, pods, "second", "running", running)
	if first.Spec.NodeName == second.Spec.NodeName {
		t.Errorf("both on %s", first.Spec.NodeName)
	}
	create(pod("third", "20"))
	await(t, pods, "third", "unschedulable", func(p *corev1.Pod) bool { return len(p.Status.Conditions) > 0 })
	if err := pods.Delete(ctx, "first"); err != nil {
		t.Fatal(err)
	}
	third := await(t, pods, "third", "running", running)
	if third.Spec.NodeName != first.Spec.NodeName {
		t.Errorf("third on %s, want %s", third.Spec.NodeName, first.Spec.NodeName)
	}

	gated := pod("gated", "1")
	gated.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/wait"}}
	create(gated)
	closed := await(t, pods, "gated", "gated", func(p *corev1.Pod) bool { return len(p.Status.Conditions) > 0 })
	if closed.Status.Conditions[0].Reason != "SchedulingGated" {
		t.Errorf("condition of a gated pod: %+v", closed.Status.Conditions[0])
	}
	open := closed.DeepCopy()
	open.Spec.SchedulingGates = nil
	if _, err := pods.Update(ctx, open); err != nil {
		t.Fatal(err)
	}
	await(t, pods, "gated", "running", running)

	events := client.For[*corev1.Event](c).Namespace("default")
	for name, want := range map[string]string{
		"first": "Scheduled: Successfully assigned default/first to " + first.Spec.NodeName,
		"huge":  "FailedScheduling: " + cond.Message,
	} {
		if !told(t, events, name, want) {
			t.Errorf("no event of %s: %s", name, want)
		}
	}
	acts, err := client.For[*eventsv1.Event](c).Namespace("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range acts.Items {
		action, ours := map[string]string{"Scheduled": "Binding", "FailedScheduling": "Scheduling"}[e.Reason]
		if ours && (e.Action != action || e.ReportingController != "default-scheduler" || e.EventTime.IsZero()) {
			t.Errorf("%s: action %q of %q at %v", e.Reason, e.Action, e.ReportingController, e.EventTime)
		}
	}
}

// told waits for an event about a pod.
func told(t *testing.T, events client.Resource[*corev1.Event], pod, want string) bool {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	w, err := events.Watch(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=" + pod})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for {
		ev, err := w.Next(ctx)
		if err != nil {
			return false
		}
		if ev.Object.Reason+": "+ev.Object.Message == want {
			return true
		}
	}
}

// BenchmarkBound binds 2,000 pods to 100 nodes through the server; one op is one pod.
func BenchmarkBound(b *testing.B) {
	env := testenv.New(b, testenv.Options{Controllers: []string{"serviceaccount", "nodelifecycle"}, Nodes: 100})
	c := env.Client(b)
	account(b, c)
	pods := client.For[*corev1.Pod](c).Namespace("default")
	b.ResetTimer()
	made := make(chan error)
	for range 16 {
		go func() { made <- nil }()
	}
	go func() {
		for i := range b.N {
			<-made
			go func() {
				_, err := pods.Create(b.Context(), pod(fmt.Sprintf("p%d", i), "100m"))
				made <- err
			}()
		}
	}()
	ctx := b.Context()
	w, err := pods.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer w.Stop()
	seen := map[string]bool{}
	for len(seen) < b.N {
		ev, err := w.Next(ctx)
		if err != nil {
			b.Fatal(err)
		}
		if running(ev.Object) {
			seen[ev.Object.Name] = true
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "running/s")
}

func TestPreemptionAgainstServer(t *testing.T) {
	env := testenv.New(t, testenv.Options{Controllers: []string{"serviceaccount", "nodelifecycle"}, Nodes: 1})
	ctx, c := t.Context(), env.Client(t)
	account(t, c)
	pods := client.For[*corev1.Pod](c).Namespace("default")
	if _, err := client.For[*schedulingv1.PriorityClass](c).Create(ctx, &schedulingv1.PriorityClass{
		ObjectMeta: metav1.ObjectMeta{Name: "urgent"}, Value: 1000,
	}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"small", "large"} {
		p := pod(name, map[string]string{"small": "10", "large": "20"}[name])
		p.Annotations = map[string]string{"fairlead.dev/terminate-after": "1h"} // goes when the test says so
		if _, err := pods.Create(ctx, p); err != nil {
			t.Fatal(err)
		}
		await(t, pods, name, "running", running)
	}
	urgent := pod("urgent", "15")
	urgent.Spec.PriorityClassName = "urgent"
	if _, err := pods.Create(ctx, urgent); err != nil {
		t.Fatal(err)
	}
	await(t, pods, "urgent", "nominated", func(p *corev1.Pod) bool { return p.Status.NominatedNodeName == "node-1" })
	if _, err := pods.Create(ctx, pod("thief", "15")); err != nil {
		t.Fatal(err)
	}
	await(t, pods, "thief", "unschedulable", func(p *corev1.Pod) bool { return len(p.Status.Conditions) > 0 })
	await(t, pods, "large", "told to go", func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil })
	now := int64(0)
	if err := pods.Delete(ctx, "large", metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
		t.Fatal(err)
	}
	await(t, pods, "urgent", "running", running)
	await(t, pods, "small", "running", running)
	thief := await(t, pods, "thief", "unschedulable", func(p *corev1.Pod) bool { return len(p.Status.Conditions) > 0 })
	if thief.Spec.NodeName != "" {
		t.Error("the room that was made went to another pod")
	}
	if _, err := pods.Get(ctx, "large"); !apierrors.IsNotFound(err) {
		t.Errorf("the victim: %v", err)
	}
	got, err := pods.Get(ctx, "urgent")
	if err != nil {
		t.Fatal(err)
	}
	if !told(t, client.For[*corev1.Event](c).Namespace("default"), "large", fmt.Sprintf("Preempted: Preempted by pod %s on node node-1", got.UID)) {
		t.Error("no event tells the victim why")
	}
	const why = "FailedScheduling: 0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement for pod on node node-1, preempting 1 victims"
	if !told(t, client.For[*corev1.Event](c).Namespace("default"), "urgent", why) {
		t.Error("no event tells of the preemption")
	}
	acts, err := client.For[*eventsv1.Event](c).Namespace("default").List(ctx, metav1.ListOptions{FieldSelector: "reason=Preempted"})
	if err != nil || len(acts.Items) != 1 || acts.Items[0].Action != "Preempting" || acts.Items[0].Related == nil || acts.Items[0].Related.UID != got.UID {
		t.Errorf("events: %+v, %v", acts, err)
	}
}

// TestShrunkPod checks that a pod that was resized leaves its former room to others, once its node has done so.
func TestShrunkPod(t *testing.T) {
	env := testenv.New(t, testenv.Options{Controllers: []string{"serviceaccount", "nodelifecycle"}, Nodes: 1})
	ctx, c := t.Context(), env.Client(t)
	account(t, c)
	pods := client.For[*corev1.Pod](c).Namespace("default")
	for _, name := range []string{"large", "waits"} {
		if _, err := pods.Create(ctx, pod(name, "20")); err != nil {
			t.Fatal(err)
		}
		if name == "large" {
			await(t, pods, name, "running", running)
		}
	}
	held(t, pods, "waits", "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.")
	smaller := client.StrategicPatch(map[string]any{"spec": map[string]any{"containers": []any{map[string]any{
		"name": "c", "resources": map[string]any{"requests": map[string]any{"cpu": "10"}},
	}}}})
	if _, err := pods.Patch(ctx, "large", smaller.On("resize")); err != nil {
		t.Fatal(err)
	}
	await(t, pods, "waits", "running", running)
}
