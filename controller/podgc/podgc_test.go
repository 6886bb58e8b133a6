package podgc_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller/podcontrol/waittest"
	"fairlead.dev/testenv"
)

// A pod that no node has taken has nobody to end it.
func TestUnscheduledPodGoes(t *testing.T) {
	env := testenv.Start(t, testenv.Options{NoScheduler: true, Nodes: -1})
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
	// The finalizer lets us see that it was given up, and not only deleted.
	waittest.One(t, pods, "waiting", "to be given up", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodFailed })
	if _, err := pods.Patch(t.Context(), "waiting", client.MergePatch(map[string]any{"metadata": map[string]any{"finalizers": []string{}}})); err != nil {
		t.Fatal(err)
	}
	waittest.Gone(t, pods, "waiting")
}
