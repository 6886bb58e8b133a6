package namespace_test

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/internal/cputime"
	"fairlead.dev/testenv"
)

// BenchmarkEnd deletes a namespace in which a Deployment has 2,000 running pods on 100 nodes. cpu-us/pod covers the
// whole process: server, controllers, scheduler, nodes.
func BenchmarkEnd(b *testing.B) {
	const pods = 2000
	for b.Loop() {
		b.StopTimer()
		env := testenv.New(b, testenv.Options{Nodes: 100})
		c := env.Client(b)
		namespaces, deployments := client.For[*corev1.Namespace](c), client.For[*appsv1.Deployment](c).Namespace("doomed")
		if _, err := namespaces.Create(b.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "doomed"}}); err != nil {
			b.Fatal(err)
		}
		waittest.One(b, client.For[*corev1.ServiceAccount](c).Namespace("doomed"), "default", "the account", func(*corev1.ServiceAccount) bool { return true })
		labels, replicas := map[string]string{"app": "web"}, int32(pods)
		if _, err := deployments.Create(b.Context(), &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Namespace: "doomed", Name: "web"},
			Spec: appsv1.DeploymentSpec{
				Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
				Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "web", Image: "web:1", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("10m")}},
				}}}},
			},
		}); err != nil {
			b.Fatal(err)
		}
		waittest.One(b, deployments, "web", "all replicas", func(d *appsv1.Deployment) bool { return d.Status.AvailableReplicas == pods })
		w, err := namespaces.Watch(b.Context(), metav1.ListOptions{FieldSelector: "metadata.name=doomed"})
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		before, start := cputime.Used(), time.Now()
		if err := namespaces.Delete(b.Context(), "doomed"); err != nil {
			b.Fatal(err)
		}
		for ctx, cancel := context.WithTimeout(b.Context(), 5*time.Minute); ; {
			ev, err := w.Next(ctx)
			if err != nil {
				b.Fatal(err)
			}
			if ev.Type == watch.Deleted {
				cancel()
				break
			}
		}
		b.ReportMetric(time.Since(start).Seconds()*1000, "ms")
		b.ReportMetric(float64((cputime.Used()-before).Microseconds())/pods, "cpu-us/pod")
		b.StopTimer()
		w.Stop()
		if err := env.Stop(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
