package podgc_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

// An unscheduled terminating pod has no kubelet to complete its termination.
func TestUnscheduledPodGoes(t *testing.T) {
	env := testenv.New(t, testenv.Options{NoScheduler: true, NoNodes: true})
	pods := client.For[*corev1.Pod](env.Client(t)).Namespace("default")
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "waiting", Namespace: "default", Finalizers: []string{"example.com/hold"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	if _, err := pods.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	if err := pods.Delete(t.Context(), "waiting"); err != nil {
		t.Fatal(err)
	}
	// The finalizer makes the Failed phase visible before the deletion.
	waittest.One(t, pods, "waiting", "to be given up", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodFailed })
	if _, err := pods.Patch(t.Context(), "waiting", client.MergePatch(map[string]any{"metadata": map[string]any{"finalizers": []string{}}})); err != nil {
		t.Fatal(err)
	}
	waittest.Gone(t, pods, "waiting")
}

// Terminating pods of an out-of-service node are deleted by force; the DisruptionTarget condition is left to the
// component that deleted them.
func TestPodsOfNodeOutOfServiceGo(t *testing.T) {
	env := testenv.New(t, testenv.Options{NoScheduler: true, NoNodes: true})
	c := env.Client(t)
	pods, nodes := client.For[*corev1.Pod](c).Namespace("default"), client.For[*corev1.Node](c)
	if _, err := nodes.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"going", "staying"} {
		if _, err := pods.Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Finalizers: []string{"example.com/hold"}},
			Spec: corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "c", Image: "i"}},
				Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := pods.Delete(t.Context(), "going"); err != nil {
		t.Fatal(err)
	}
	if _, err := nodes.Patch(t.Context(), "n", client.StrategicPatch(map[string]any{"spec": map[string]any{"taints": []corev1.Taint{
		{Key: corev1.TaintNodeOutOfService, Effect: corev1.TaintEffectNoExecute}}}})); err != nil {
		t.Fatal(err)
	}
	p := waittest.One(t, pods, "going", "to be given up", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodFailed })
	if len(p.Status.Conditions) > 0 {
		t.Errorf("conditions %+v", p.Status.Conditions)
	}
	if p, err := pods.Get(t.Context(), "staying"); err != nil || p.Status.Phase != corev1.PodPending {
		t.Errorf("the other: %s, %v", p.Status.Phase, err)
	}
}
