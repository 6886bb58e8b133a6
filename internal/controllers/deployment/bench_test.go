package deployment_test

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/client"
	"fairlead.dev/internal/cputime"
	"fairlead.dev/testenv"
)

// BenchmarkRollout2000 rolls out a Deployment of 2,000 replicas on 100 nodes until it is available. cpu-us/pod
// covers the whole process: server, controllers, scheduler, nodes and the one watcher here.
func BenchmarkRollout2000(b *testing.B) {
	const pods = 2000
	for b.Loop() {
		b.StopTimer()
		env := testenv.New(b, testenv.Options{Nodes: 100})
		deployments := client.For[*appsv1.Deployment](env.Client(b)).Namespace("default")
		w, err := deployments.Watch(b.Context(), metav1.ListOptions{})
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		before, start := cputime.Used(), time.Now()
		if _, err := deployments.Create(b.Context(), web(pods, "web:1")); err != nil {
			b.Fatal(err)
		}
		await(b.Context(), b, w, pods)
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

func await(ctx context.Context, b *testing.B, w *client.Watch[*appsv1.Deployment], available int32) {
	b.Helper()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		ev, err := w.Next(ctx)
		if err != nil {
			b.Fatal(err)
		}
		if ev.Type != watch.Bookmark && ev.Object.Status.AvailableReplicas == available {
			return
		}
	}
}
