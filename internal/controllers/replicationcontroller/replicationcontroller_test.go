package replicationcontroller_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

func TestReplicationController(t *testing.T) {
	env := testenv.New(t, testenv.Options{})
	c := env.Client(t)
	controllers := client.For[*corev1.ReplicationController](c).Namespace("default")
	pods := client.For[*corev1.Pod](c).Namespace("default")
	n := int32(2)
	labels := map[string]string{"app": "old"}
	if _, err := controllers.Create(t.Context(), &corev1.ReplicationController{
		ObjectMeta: metav1.ObjectMeta{Name: "old", Namespace: "default"},
		Spec: corev1.ReplicationControllerSpec{Replicas: &n, Selector: labels, Template: &corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		}},
	}); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, controllers, "old", "two replicas", func(rc *corev1.ReplicationController) bool {
		return rc.Status.AvailableReplicas == 2 && rc.Status.ObservedGeneration == rc.Generation
	})
	orphan := metav1.DeletePropagationOrphan
	if err := controllers.Delete(t.Context(), "old", metav1.DeleteOptions{PropagationPolicy: &orphan}); err != nil {
		t.Fatal(err)
	}
	waittest.Gone(t, controllers, "old")
	waittest.For(t, pods, "pods without an owner", "app=old", func(have map[string]*corev1.Pod) bool {
		for _, p := range have {
			if metav1.GetControllerOf(p) != nil {
				return false
			}
		}
		return len(have) == 2
	})
}
