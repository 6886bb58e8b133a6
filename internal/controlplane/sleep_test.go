package controlplane_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/memnet"
)

func deployment(name string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "nginx"}}}},
	}}
}

// available waits until a Deployment has its replicas.
func available(t *testing.T, c kubernetes.Interface, name string) {
	t.Helper()
	w, err := c.AppsV1().Deployments("default").Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for ev := range w.ResultChan() {
		if d, ok := ev.Object.(*appsv1.Deployment); ok && ev.Type != watch.Deleted && d.Status.AvailableReplicas == *d.Spec.Replicas && d.Status.ObservedGeneration == d.Generation {
			return
		}
	}
	t.Fatal("the watch ended")
}

// asleep waits until the process has no more than a number of goroutines.
func asleep(t *testing.T, most int) {
	t.Helper()
	for runtime.NumGoroutine() > most {
		if t.Context().Err() != nil {
			t.Fatal("the control plane did not fall asleep")
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func TestSleep(t *testing.T) {
	o := controlplane.Options{Controllers: []string{"*"}, Scheduler: true, Nodes: 2, Sleeps: true}
	f := frozen(t, o, 1, 10)
	network := new(memnet.Network)
	before := runtime.NumGoroutine()
	cp, err := f.Fork(context.Background(), controlplane.Place{DataDir: t.TempDir(), Network: network})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cp.Stop() })
	c := kubernetes.NewForConfigOrDie(cp.Config())
	if _, err := c.CoreV1().ConfigMaps("default").Get(t.Context(), "map-1", metav1.GetOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Log("goroutines of a fork that has slept since its start: ", runtime.NumGoroutine()-before)
	asleep(t, before+40)
	if _, err := c.AppsV1().Deployments("default").Create(t.Context(), deployment("first", 3), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	available(t, c, "first")
	t.Log("goroutines awake: ", runtime.NumGoroutine()-before)
	asleep(t, before+40)
	pods, err := c.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{LabelSelector: "app=first"})
	if err != nil || len(pods.Items) != 3 {
		t.Fatalf("pods: %d, %v", len(pods.Items), err)
	}
	logs, err := c.CoreV1().Pods("default").GetLogs(pods.Items[0].Name, &corev1.PodLogOptions{}).Stream(t.Context())
	if err != nil {
		t.Fatal("logs of a pod on a node that sleeps: ", err)
	}
	if _, err := io.Copy(io.Discard, logs); err != nil {
		t.Error(err)
	}
	logs.Close()
	if _, err := c.AppsV1().Deployments("default").Create(t.Context(), deployment("second", 2), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	available(t, c, "second")
}

// A fork of a control plane whose controllers have not seen the last write yet goes on with it, without a further write.
func TestForkGoesOn(t *testing.T) {
	o := controlplane.Options{DataDir: t.TempDir(), InMemory: true, Network: new(memnet.Network), Controllers: []string{"*"}, Scheduler: true, Nodes: 1, Sleeps: true}
	base, err := controlplane.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer base.Stop()
	c := kubernetes.NewForConfigOrDie(base.Config())
	for i := range 5 {
		name := fmt.Sprintf("web-%d", i)
		if _, err := c.AppsV1().Deployments("default").Create(t.Context(), deployment(name, 1), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		f, err := base.Snapshot(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		fork := forkOf(t, f, t.TempDir())
		available(t, kubernetes.NewForConfigOrDie(fork.Config()), name)
		if err := errors.Join(fork.Stop(), f.Close()); err != nil {
			t.Error(err)
		}
	}
}
