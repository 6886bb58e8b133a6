package testenv_test

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/internal/exampletest"
	"fairlead.dev/testenv"
)

// A test with a control plane of its own: a Deployment is rolled out to its simulated nodes.
func Example() {
	t, end := exampletest.New() // in a test, t is its parameter
	defer end()

	env := testenv.New(t, testenv.Options{})
	deployments := client.For[*appsv1.Deployment](env.Client(t)).Namespace("default")
	labels := map[string]string{"app": "web"}
	d, err := deployments.Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(3)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx"}}},
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	events, err := deployments.Watch(t.Context(), metav1.ListOptions{ResourceVersion: d.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	for d.Status.ReadyReplicas < 3 {
		e, err := events.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		d = e.Object
	}
	fmt.Println(d.Name, "has", d.Status.ReadyReplicas, "ready replicas")
	// Output: web has 3 ready replicas
}
