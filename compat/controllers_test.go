package compat

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// until watches one object until it is as wanted.
func until[T runtime.Object](t *testing.T, lw cache.ListerWatcher, what string, done func(T) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var zero T
	_, err := watchtools.UntilWithSync(ctx, lw, zero, nil, func(e watchEvent) (bool, error) {
		o, ok := e.Object.(T)
		return ok && done(o), nil
	})
	if err != nil {
		t.Fatalf("waiting for %s: %v", what, err)
	}
	t.Logf("seen: %s", what)
}

func one(name string) fields.Selector { return fields.OneTermEqualSelector("metadata.name", name) }

// Our controllers, scheduler and nodes bring a Deployment and a Job to life on
// upstream's API server, update it, and clean up after it.
func TestOurControllersOnUpstreamsServer(t *testing.T) {
	up := startUpstream(t)
	for _, part := range [][]string{{"controllers"}, {"scheduler"}, {"nodes", "--nodes=3"}} {
		start(t, bin.fairlead, append(part, "--kubeconfig", up.kubeconfig)...)
	}
	ctx := context.Background()
	c := up.clients
	const ns = "shop"
	if _, err := c.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, cache.NewListWatchFromClient(c.CoreV1().RESTClient(), "serviceaccounts", ns, one("default")),
		"the default service account", func(*corev1.ServiceAccount) bool { return true })

	labels := map[string]string{"app": "web"}
	replicas := int32(5)
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
	}
	deployments := cache.NewListWatchFromClient(c.AppsV1().RESTClient(), "deployments", ns, one("web"))
	if _, err := c.AppsV1().Deployments(ns).Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, deployments, "5 of 5 replicas available", func(d *appsv1.Deployment) bool { return d.Status.AvailableReplicas == 5 })

	if _, err := c.CoreV1().Services(ns).Create(ctx, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       corev1.ServiceSpec{Selector: labels, Ports: []corev1.ServicePort{{Port: 80}}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, cache.NewListWatchFromClient(c.DiscoveryV1().RESTClient(), "endpointslices", ns, fields.Everything()),
		"an EndpointSlice with 5 endpoints", func(s *discoveryv1.EndpointSlice) bool { return len(s.Endpoints) == 5 })

	if _, err := c.AppsV1().Deployments(ns).Patch(ctx, "web", "application/strategic-merge-patch+json",
		[]byte(`{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"web:2"}]}}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, deployments, "the update rolled out", func(d *appsv1.Deployment) bool {
		return d.Status.ObservedGeneration == d.Generation && d.Status.UpdatedReplicas == 5 && d.Status.Replicas == 5 && d.Status.AvailableReplicas == 5
	})

	job := template
	job.Labels = nil
	job.Spec.RestartPolicy = corev1.RestartPolicyNever
	if _, err := c.BatchV1().Jobs(ns).Create(ctx, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "once"}, Spec: batchv1.JobSpec{Template: job}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, cache.NewListWatchFromClient(c.BatchV1().RESTClient(), "jobs", ns, one("once")),
		"the Job complete", func(j *batchv1.Job) bool { return j.Status.Succeeded == 1 })

	foreground := metav1.DeletePropagationForeground
	if err := c.AppsV1().Deployments(ns).Delete(ctx, "web", metav1.DeleteOptions{PropagationPolicy: &foreground}); err != nil {
		t.Fatal(err)
	}
	gone(t, deployments, "the Deployment gone after all it owned (foreground)")
	if sets, err := c.AppsV1().ReplicaSets(ns).List(ctx, metav1.ListOptions{}); err != nil || len(sets.Items) != 0 {
		t.Errorf("ReplicaSets left: %d, %v", len(sets.Items), err)
	}
	if err := c.CoreV1().Namespaces().Delete(ctx, ns, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	gone(t, cache.NewListWatchFromClient(c.CoreV1().RESTClient(), "namespaces", "", one(ns)), "the namespace gone")
	if _, err := c.BatchV1().Jobs(ns).Get(ctx, "once", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the Job after its namespace: %v", err)
	}
}
