package controlplane_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
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

// TestSleepKeepsEvictions: a planned eviction lets the controllers sleep, and is cancelled by the write that wakes them. They
// also remember how many pods a rule has evicted.
func TestSleepKeepsEvictions(t *testing.T) {
	before := runtime.NumGoroutine()
	cp := forkOf(t, frozen(t, controlplane.Options{Controllers: []string{"devicetainteviction", "serviceaccount"}, Sleeps: true}, 0, 0), t.TempDir())
	t.Cleanup(func() { cp.Stop() })
	c := controlplanetest.Client(t, cp)
	pods, rules := client.For[*corev1.Pod](c).Namespace("default"), client.For[*resourcev1.DeviceTaintRule](c)
	waittest.One(t, client.For[*corev1.ServiceAccount](c).Namespace("default"), "default", "the account of pods", func(*corev1.ServiceAccount) bool { return true })
	for name, seconds := range map[string]int64{"now": 0, "later": 3600} {
		claimed(t, c, name, seconds)
	}
	written := map[string]string{}
	for _, r := range []struct {
		name    string
		effect  resourcev1.DeviceTaintEffect
		message string
	}{
		{"dry", resourcev1.DeviceTaintEffectNone, "if the effect was NoExecute"},
		{"r", resourcev1.DeviceTaintEffectNoExecute, "1 pod needs to be evicted in 1 namespace. 1 pod evicted since starting the controller."},
	} {
		if _, err := rules.Create(t.Context(), &resourcev1.DeviceTaintRule{ObjectMeta: metav1.ObjectMeta{Name: r.name}, Spec: resourcev1.DeviceTaintRuleSpec{
			DeviceSelector: &resourcev1.DeviceTaintSelector{Driver: ptr.To("gpu.example.com")}, Taint: resourcev1.DeviceTaint{Key: "example.com/broken", Effect: r.effect},
		}}); err != nil {
			t.Fatal(err)
		}
		written[r.name] = waittest.One(t, rules, r.name, "its progress", func(now *resourcev1.DeviceTaintRule) bool {
			return len(now.Status.Conditions) == 1 && strings.Contains(now.Status.Conditions[0].Message, r.message)
		}).ResourceVersion
	}
	asleep(t, before+40)
	if _, err := client.For[*corev1.ConfigMap](c).Namespace("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "wake"}}); err != nil {
		t.Fatal(err)
	}
	asleep(t, before+40)
	for name, at := range written {
		if r, err := rules.Get(t.Context(), name); err != nil || r.ResourceVersion != at {
			t.Errorf("the rule %s has been written again: %v %+v", name, err, r.Status)
		}
	}
	if err := rules.Delete(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	waittest.For(t, client.For[*corev1.Event](c).Namespace("default"), "the end of the plan", "", func(all map[string]*corev1.Event) bool {
		for _, e := range all {
			if e.InvolvedObject.Name == "later" && e.Reason == "DeviceTaintManagerEviction" && e.Message == "Cancelling deletion" {
				return true
			}
		}
		return false
	})
	if p, err := pods.Get(t.Context(), "later"); err != nil || p.DeletionTimestamp != nil {
		t.Errorf("the other pod: %v", err)
	}
}

// claimed creates a pod on a node, and a claim that has a device for it and tolerates its taints for some seconds.
func claimed(t *testing.T, c *client.Client, name string, seconds int64) {
	t.Helper()
	p, err := client.For[*corev1.Pod](c).Namespace("default").Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
		NodeName: "node", Containers: []corev1.Container{{Name: "c", Image: "c"}}, TerminationGracePeriodSeconds: ptr.To[int64](0),
		ResourceClaims: []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: &name}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	claims := client.For[*resourcev1.ResourceClaim](c).Namespace("default")
	claim, err := claims.Create(t.Context(), &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.ResourceClaimSpec{
		Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu"}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	claim.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: name, UID: p.UID}}
	claim.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{{
		Request: "r", Driver: "gpu.example.com", Pool: "pool", Device: "a", Tolerations: []resourcev1.DeviceToleration{{
			Operator: resourcev1.DeviceTolerationOpExists, Effect: resourcev1.DeviceTaintEffectNoExecute, TolerationSeconds: &seconds}},
	}}}}
	if _, err := claims.UpdateStatus(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
}
