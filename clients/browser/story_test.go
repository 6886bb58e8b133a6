package browser

import (
	"context"
	"fmt"
	"testing"
	"time"

	"fairlead.dev/client"
	"fairlead.dev/internal/trace/show"
	"fairlead.dev/trace"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// story creates the Deployment web with one replica and scales it. It returns the revisions
// of both writes after their last effect.
func (b *fixture) story(t *testing.T, replicas int32) (made, scaled int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	deployments := client.For[*appsv1.Deployment](b.client).Namespace("default")
	one := int32(1)
	d, err := deployments.Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &one, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx"}}},
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	made = trace.Revision(d.ResourceVersion)
	b.available(t, ctx, d, 1)
	b.settle(t, ctx) // so that the scaling is the only cause of later events
	if d, err = deployments.Patch(ctx, "web", client.MergePatch(map[string]any{"spec": map[string]any{"replicas": replicas}})); err != nil {
		t.Fatal(err)
	}
	b.available(t, ctx, d, replicas)
	b.settle(t, ctx) // the history is complete
	return made, trace.Revision(d.ResourceVersion)
}

// stuck makes the Deployment stuck, with two pods that fit on no node, and waits until the
// scheduler has reported that.
func (b *fixture) stuck(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	two := int32(2)
	if _, err := client.For[*appsv1.Deployment](b.client).Namespace("default").Create(ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "stuck"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &two, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "stuck"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "stuck"}},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "c", Image: "nginx", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("5000")}},
				}}},
			},
		},
	}); err != nil {
		t.Fatal(err)
	}
	w, err := client.For[*corev1.Pod](b.client).Namespace("default").Watch(ctx, metav1.ListOptions{LabelSelector: "app=stuck"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for told := map[string]bool{}; len(told) < 2; {
		ev, err := w.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range ev.Object.Status.Conditions {
			if c.Type == corev1.PodScheduled && c.Reason == corev1.PodReasonUnschedulable {
				told[ev.Object.Name] = true
			}
		}
	}
}

// settle waits until there have been no events for a while, but heartbeats.
func (b *fixture) settle(t *testing.T, ctx context.Context) {
	t.Helper()
	const quiet = 700 * time.Millisecond
	for {
		rest := time.Duration(0)
		for _, lf := range b.lives.Lives(trace.Filter{From: b.lives.Newest() - 100}) {
			if !show.IsHeartbeat(lf) {
				rest = max(rest, time.Until(lf.Began.Add(lf.Duration()+quiet)))
			}
		}
		if rest <= 0 {
			return
		}
		select {
		case <-time.After(rest):
		case <-ctx.Done():
			t.Fatal("events do not stop")
		}
	}
}

// available waits for replicas of a Deployment.
func (b *fixture) available(t *testing.T, ctx context.Context, from *appsv1.Deployment, replicas int32) {
	t.Helper()
	w, err := client.For[*appsv1.Deployment](b.client).Namespace("default").Watch(ctx,
		metav1.ListOptions{FieldSelector: "metadata.name=web", ResourceVersion: from.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for {
		ev, err := w.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if d := ev.Object; d.Status.AvailableReplicas == replicas && d.Status.ObservedGeneration == d.Generation {
			return
		}
	}
}

// crowd creates n ConfigMaps in the namespace default.
func (b *fixture) crowd(t *testing.T, n int) {
	t.Helper()
	maps := client.For[*corev1.ConfigMap](b.client).Namespace("default")
	failed := make(chan error, 16)
	for w := range cap(failed) {
		go func() {
			for i := w; i < n; i += cap(failed) {
				if _, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("crowd-%05d", i)}}); err != nil {
					failed <- err
					return
				}
			}
			failed <- nil
		}()
	}
	for range cap(failed) {
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
	}
}

// scale sets the replicas of the Deployment web and waits until all of them are available and their events have
// ended. It returns the revision of the write.
func (b *fixture) scale(t *testing.T, ctx context.Context, replicas int32) int64 {
	t.Helper()
	b.settle(t, ctx)
	d, err := client.For[*appsv1.Deployment](b.client).Namespace("default").Patch(ctx, "web", client.MergePatch(map[string]any{"spec": map[string]any{"replicas": replicas}}))
	if err != nil {
		t.Fatal(err)
	}
	b.available(t, ctx, d, replicas)
	b.settle(t, ctx)
	return trace.Revision(d.ResourceVersion)
}
