package e2e

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkMemory measures the resident memory (VmRSS) of `fairlead up` on disk with ten nodes,
// one minute after the start (idle-MB), and one minute after the 1,000 pods of a Deployment
// have become ready (pods-MB).
//
//	go test -run '^$' -bench Memory -benchtime 3x -timeout 30m
func BenchmarkMemory(b *testing.B) {
	const (
		pods  = 1000
		quiet = time.Minute
	)
	var idle, loaded float64
	for range b.N {
		p := up(b, b.TempDir(), "--nodes", "10")
		time.Sleep(quiet)
		idle += residentMB(b, p.PID)
		createDeployment(b, p, pods)
		time.Sleep(quiet)
		loaded += residentMB(b, p.PID)
		p.stop()
	}
	b.ReportMetric(idle/float64(b.N), "idle-MB")
	b.ReportMetric(loaded/float64(b.N), "pods-MB")
}

// createDeployment returns when all replicas of a new Deployment are ready.
func createDeployment(b *testing.B, p *process, replicas int32) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	labels := map[string]string{"app": "web"}
	deployments := p.clientset().AppsV1().Deployments("default")
	if _, err := deployments.Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx"}}},
			},
		},
	}, metav1.CreateOptions{}); err != nil {
		b.Fatal(err)
	}
	for {
		d, err := deployments.Get(ctx, "web", metav1.GetOptions{})
		if err != nil {
			b.Fatal(err)
		}
		if d.Status.ReadyReplicas == replicas {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}
