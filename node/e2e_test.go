package node_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/node"
	"fairlead.dev/testenv"
)

// served is a server without nodes, and the environment that nodes need.
func served(t testing.TB) controller.Env {
	t.Helper()
	env, _ := servedAt(t)
	return env
}

// servedAt also tells how to reach the server.
func servedAt(t testing.TB) (controller.Env, *rest.Config) {
	t.Helper()
	env := testenv.New(t, testenv.Options{Controllers: []string{"serviceaccount"}, NoScheduler: true, NoNodes: true})
	c := env.Client(t)
	recorder := client.NewRecorder(c, "kubelet")
	t.Cleanup(recorder.Close)
	await(t, client.For[*corev1.ServiceAccount](c).Namespace("default"), "default", "there", func(*corev1.ServiceAccount) bool { return true })
	return controller.Env{Client: c, Informers: informer.NewSet(c), Recorder: recorder, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}, env.Config()
}

// start runs nodes; stop waits for their end.
func start(t testing.TB, env controller.Env, o node.Options) (stop func()) {
	return startNodes(t, node.New(env, o))
}

func startNodes(t testing.TB, run *node.Nodes) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- run.Run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return stop
}

func await[T client.Object](t testing.TB, r client.Resource[T], name, what string, ok func(T) bool) T {
	t.Helper()
	return awaitSince(t, r, name, "", what, ok)
}

// patience bounds every wait.
const patience = time.Minute

// awaitSince also sees earlier versions, since a revision.
func awaitSince[T client.Object](t testing.TB, r client.Resource[T], name, since, what string, ok func(T) bool) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	w, err := r.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name, ResourceVersion: since})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	var last T
	for {
		ev, err := w.Next(ctx)
		if err != nil {
			t.Fatalf("%s: never %s: %v; last seen %+v", name, what, err, last)
		}
		if last = ev.Object; ev.Type != watch.Deleted && ok(last) {
			return last
		}
	}
}

func ready(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func boundPod(name, on string, policy corev1.RestartPolicy) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: corev1.PodSpec{
			NodeName: on, RestartPolicy: policy,
			Containers: []corev1.Container{{Name: "c", Image: "nginx:1.27"}},
		},
	}
}

// TestLifeOnServer also restarts the nodes in the middle.
func TestLifeOnServer(t *testing.T) {
	env := served(t)
	ctx := t.Context()
	nodes, pods := client.For[*corev1.Node](env.Client), client.For[*corev1.Pod](env.Client).Namespace("default")
	options := node.Options{Count: 2, Zones: []string{"a", "b"}}
	stop := start(t, env, options)

	n := await(t, nodes, "node-2", "ready", ready)
	if n.Labels[corev1.LabelHostname] != "node-2" || n.Labels[corev1.LabelTopologyZone] != "b" || n.Spec.PodCIDR != "10.128.1.0/24" ||
		n.Status.Allocatable.Cpu().String() != "32" || n.Status.Addresses[0].Address != "172.18.0.3" || n.Status.NodeInfo.KubeletVersion == "" {
		t.Errorf("node: %+v", n)
	}
	leases := client.For[*coordinationv1.Lease](env.Client).Namespace("kube-node-lease")
	lease := await(t, leases, "node-2", "there", func(*coordinationv1.Lease) bool { return true })
	if *lease.Spec.HolderIdentity != "node-2" || *lease.Spec.LeaseDurationSeconds != 40 || lease.OwnerReferences[0].UID != n.UID {
		t.Errorf("lease: %+v", lease)
	}

	for _, p := range []*corev1.Pod{boundPod("a", "node-1", ""), boundPod("b", "node-1", "")} {
		if _, err := pods.Create(ctx, p); err != nil {
			t.Fatal(err)
		}
	}
	running := func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning }
	a, b := await(t, pods, "a", "running", running), await(t, pods, "b", "running", running)
	if a.Status.PodIP == b.Status.PodIP || a.Status.HostIP != "172.18.0.2" {
		t.Errorf("addresses: %s and %s on %s", a.Status.PodIP, b.Status.PodIP, a.Status.HostIP)
	}

	stop()
	cordoned, err := nodes.Get(ctx, "node-2")
	if err != nil {
		t.Fatal(err)
	}
	cordoned.Spec.Unschedulable = true
	if _, err := nodes.Update(ctx, cordoned); err != nil {
		t.Fatal(err)
	}
	if err := pods.Delete(ctx, "b"); err != nil {
		t.Fatal(err)
	}
	start(t, env, options)
	made, err := pods.Create(ctx, boundPod("job", "node-2", corev1.RestartPolicyNever))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pods.Create(ctx, boundPod("c", "node-1", "")); err != nil {
		t.Fatal(err)
	}
	// The job is seen to run before it ends.
	awaitSince(t, pods, "job", made.ResourceVersion, "running", running)
	job := await(t, pods, "job", "done", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded })
	if end := job.Status.ContainerStatuses[0].State.Terminated; end == nil || end.Reason != "Completed" || end.ExitCode != 0 {
		t.Errorf("the job's container: %+v", job.Status.ContainerStatuses[0])
	}
	c := await(t, pods, "c", "running", running)
	if c.Status.PodIP == a.Status.PodIP {
		t.Errorf("a restart gave %s away twice", c.Status.PodIP)
	}
	if again, err := pods.Get(ctx, "a"); err != nil || again.ResourceVersion != a.ResourceVersion {
		t.Errorf("a restart touched a running pod: %v, %+v", err, again)
	}
	if n, err := nodes.Get(ctx, "node-2"); err != nil || !n.Spec.Unschedulable || n.UID != cordoned.UID {
		t.Errorf("a restart made the node anew: %v, %+v", err, n)
	}
	gone(t, pods, b.Name)
	if err := pods.Delete(ctx, "job"); err != nil {
		t.Fatal(err)
	}
	gone(t, pods, "job")
}

// forget waits until there is no pod of that name.
func gone(t *testing.T, pods client.Resource[*corev1.Pod], name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	list, err := pods.List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil || len(list.Items) == 0 {
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	w, err := pods.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name, ResourceVersion: list.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for {
		ev, err := w.Next(ctx)
		if err != nil {
			t.Fatalf("%s stays: %v", name, err)
		}
		if ev.Type == watch.Deleted {
			return
		}
	}
}

func TestKeepAlive(t *testing.T) {
	env := served(t)
	ctx := t.Context()
	nodes := client.For[*corev1.Node](env.Client)
	leases := client.For[*coordinationv1.Lease](env.Client).Namespace("kube-node-lease")
	k, err := node.New(env, node.Options{Count: 1}).First()
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Register(ctx); err != nil {
		t.Fatal(err)
	}
	beat := func(alive bool) *coordinationv1.Lease {
		t.Helper()
		next, err := k.KeepAlive(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if alive == next.IsZero() {
			t.Fatalf("next beat at %v", next)
		}
		lease, err := leases.Get(ctx, "node-1")
		if alive != (err == nil) {
			t.Fatal(err)
		}
		return lease
	}
	first := beat(true)
	second := beat(true)
	if !second.Spec.RenewTime.After(first.Spec.RenewTime.Time) {
		t.Errorf("renewed at %v, then at %v", first.Spec.RenewTime, second.Spec.RenewTime)
	}
	touched := second.DeepCopy()
	touched.Labels = map[string]string{"x": "y"}
	if _, err := leases.Update(ctx, touched); err != nil {
		t.Fatal(err)
	}
	if third := beat(true); third.Labels["x"] != "y" || !third.Spec.RenewTime.After(second.Spec.RenewTime.Time) {
		t.Errorf("after somebody else's change: %+v", third)
	}
	if err := leases.Delete(ctx, "node-1"); err != nil {
		t.Fatal(err)
	}
	beat(true)

	before, err := nodes.Get(ctx, "node-1")
	if err != nil {
		t.Fatal(err)
	}
	for i := range before.Status.Conditions {
		if c := &before.Status.Conditions[i]; c.Type == corev1.NodeReady {
			c.Status, c.Reason, c.LastTransitionTime = corev1.ConditionUnknown, "NodeStatusUnknown", metav1.Unix(1, 0)
		}
	}
	if _, err := nodes.UpdateStatus(ctx, before); err != nil {
		t.Fatal(err)
	}
	beat(true)
	if n, err := nodes.Get(ctx, "node-1"); err != nil || ready(n) {
		t.Errorf("the conditions were reported before it was time: %v", err)
	}
	k.ReportDue()
	beat(true)
	n, err := nodes.Get(ctx, "node-1")
	if err != nil || !ready(n) || len(n.Status.Conditions) != 4 || n.Status.Conditions[3].LastTransitionTime.Unix() == 1 {
		t.Errorf("the conditions were not reported: %v, %+v", err, n.Status.Conditions)
	}

	if err := nodes.Delete(ctx, "node-1"); err != nil {
		t.Fatal(err)
	}
	if err := leases.Delete(ctx, "node-1"); err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	beat(false)
}

// BenchmarkRunning brings bound pods to Running on 100 nodes; one op is one pod. The
// difference between the levels of events is their cost.
func BenchmarkRunning(b *testing.B) {
	for name, level := range map[string]node.Events{"none": node.NoEvents, "start": node.StartEvents, "all": node.AllEvents} {
		b.Run("events="+name, func(b *testing.B) {
			env := served(b)
			pods := client.For[*corev1.Pod](env.Client).Namespace("default")
			start(b, env, node.Options{Count: 100, Events: level})
			nodes := client.For[*corev1.Node](env.Client)
			for i := range 100 {
				await(b, nodes, fmt.Sprintf("node-%d", i+1), "ready", ready)
			}
			w, err := pods.Watch(b.Context(), metav1.ListOptions{})
			if err != nil {
				b.Fatal(err)
			}
			defer w.Stop()
			b.ResetTimer()
			sem := make(chan struct{}, 16)
			go func() {
				for i := range b.N {
					sem <- struct{}{}
					go func() {
						defer func() { <-sem }()
						if _, err := pods.Create(b.Context(), boundPod(fmt.Sprintf("p%d", i), fmt.Sprintf("node-%d", i%100+1), "")); err != nil {
							b.Error(err)
						}
					}()
				}
			}()
			for n := 0; n < b.N; {
				ev, err := w.Next(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				if ev.Type == watch.Modified && ev.Object.Status.Phase == corev1.PodRunning {
					n++
				}
			}
			b.ReportMetric(float64(env.Recorder.Dropped()), "dropped")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "running/s")
		})
	}
}
