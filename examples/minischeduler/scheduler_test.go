package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/testenv"
)

// Pods for the scheduler mini are placed as long as there is room, and a waiting one when
// there is room again; a pod for another scheduler is left alone.
func TestMini(t *testing.T) {
	env := testenv.New(t, testenv.Options{Controllers: []string{"serviceaccount", "nodelifecycle"}, NoScheduler: true, Nodes: 2})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := env.Client(t)
	done := make(chan error, 1)
	running, stop := context.WithCancel(ctx)
	go func() { done <- run(running, c) }()
	defer func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()

	accounts, err := client.For[*corev1.ServiceAccount](c).Namespace("default").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer accounts.Stop()
	if _, err := accounts.Next(ctx); err != nil {
		t.Fatal(err)
	}
	pods := client.For[*corev1.Pod](c).Namespace("default")
	watch, err := pods.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	create := func(name, scheduler string) {
		t.Helper()
		if _, err := pods.Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
			Spec: corev1.PodSpec{SchedulerName: scheduler, Containers: []corev1.Container{{Name: "c", Image: "nginx",
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("12")}}}}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	on := map[string]string{} // the nodes of the pods that run
	untilRunning := func(n int) {
		t.Helper()
		for len(on) < n {
			e, err := watch.Next(ctx)
			if err != nil {
				t.Fatalf("running: %v; %v", on, err)
			}
			if e.Object.Status.Phase == corev1.PodRunning {
				on[e.Object.Name] = e.Object.Spec.NodeName
			}
		}
	}

	create("other", "nobody")
	for i := range 5 { // two fit on a node of 32 CPUs
		create(fmt.Sprint("p", i), "mini")
	}
	untilRunning(4)
	count := map[string]int{}
	for _, node := range on {
		count[node]++
	}
	if count["node-1"] != 2 || count["node-2"] != 2 {
		t.Errorf("pods on nodes: %v", count)
	}
	for name := range on {
		if err := pods.Delete(ctx, name); err != nil {
			t.Fatal(err)
		}
		break
	}
	untilRunning(5)
	if p, err := pods.Get(ctx, "other"); err != nil || p.Spec.NodeName != "" {
		t.Errorf("the other scheduler's pod is on %q, %v", p.Spec.NodeName, err)
	}
}
