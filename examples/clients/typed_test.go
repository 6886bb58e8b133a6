package clients

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
)

// Objects by their Go type: create, watch until it is done, change, delete.
func Example_typed() {
	_, c, stop := plane()
	defer stop()
	ctx := context.Background()
	deployments := client.For[*appsv1.Deployment](c).Namespace("default")

	labels := map[string]string{"app": "web"}
	web := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx"}}}},
	}}
	web.Name, web.Spec.Template.Labels = "web", labels
	web, err := deployments.Create(ctx, web)
	must(err)
	fmt.Println("replicas by default:", *web.Spec.Replicas)

	// A merge patch of the difference between two objects.
	three := web.DeepCopy()
	n := int32(3)
	three.Spec.Replicas = &n
	web, err = deployments.Patch(ctx, "web", client.MergeFrom(web, three))
	must(err)

	// The watch begins where the write was, and its events come until it is enough.
	w, err := deployments.Watch(ctx, metav1.ListOptions{ResourceVersion: web.ResourceVersion})
	must(err)
	defer w.Stop()
	for e, err := range w.Events(ctx) {
		must(err)
		if e.Object.Status.AvailableReplicas == 3 {
			break
		}
	}
	pods, err := client.For[*corev1.Pod](c).Namespace("default").List(ctx, metav1.ListOptions{LabelSelector: "app=web"})
	must(err)
	fmt.Println("pods:", len(pods.Items))

	must(deployments.Delete(ctx, "web"))
	_, err = deployments.Get(ctx, "web")
	fmt.Println("gone:", apierrors.IsNotFound(err))
	// Output:
	// replicas by default: 1
	// pods: 3
	// gone: true
}
