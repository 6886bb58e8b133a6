package replicaset_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/client"
	"fairlead.dev/internal/controllers/podcontrol/waittest"
	"fairlead.dev/testenv"
)

var labels = map[string]string{"app": "web"}

func template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1"}}},
	}
}

func TestReplicaSetOwnsWhatItSelects(t *testing.T) {
	env := testenv.New(t, testenv.Options{})
	c := env.Client(t)
	sets := client.For[*appsv1.ReplicaSet](c).Namespace("default")
	pods := client.For[*corev1.Pod](c).Namespace("default")

	orphan := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "orphan", Namespace: "default", Labels: labels}, Spec: template().Spec}
	if _, err := pods.Create(t.Context(), orphan); err != nil {
		t.Fatal(err)
	}
	n := int32(3)
	rs, err := sets.Create(t.Context(), &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"},
		Spec:       appsv1.ReplicaSetSpec{Replicas: &n, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template()},
	})
	if err != nil {
		t.Fatal(err)
	}
	full := func(rs *appsv1.ReplicaSet) bool {
		s := rs.Status
		return s.ObservedGeneration == rs.Generation && s.Replicas == n && s.ReadyReplicas == n && s.AvailableReplicas == n && s.FullyLabeledReplicas == n
	}
	waittest.One(t, sets, "web", "all replicas", full)
	owned := func(p *corev1.Pod) bool { return metav1.IsControlledBy(p, rs) }
	have := waittest.For(t, pods, "three pods", "app=web", func(have map[string]*corev1.Pod) bool { return len(have) == 3 })
	for name, p := range have {
		if !owned(p) {
			t.Errorf("%s is not owned", name)
		}
	}
	if have["orphan"] == nil {
		t.Error("the orphan was not adopted")
	}

	// A pod that no longer matches the selector is released and replaced.
	if _, err := pods.Patch(t.Context(), "orphan", client.MergePatch(map[string]any{"metadata": map[string]any{"labels": map[string]any{"app": "debug"}}})); err != nil {
		t.Fatal(err)
	}
	waittest.One(t, pods, "orphan", "its release", func(p *corev1.Pod) bool { return metav1.GetControllerOf(p) == nil })
	waittest.For(t, pods, "a replacement", "app=web", func(have map[string]*corev1.Pod) bool {
		for _, p := range have {
			if !owned(p) {
				return false
			}
		}
		return len(have) == 3
	})

	// A deleted pod is replaced.
	for name := range have {
		if name != "orphan" {
			if err := pods.Delete(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
	}
	waittest.For(t, pods, "two more replacements", "app=web", func(now map[string]*corev1.Pod) bool {
		for name := range have {
			if now[name] != nil {
				return false
			}
		}
		return len(now) == 3
	})
	waittest.One(t, sets, "web", "all replicas again", full)
}

func TestReplicasNeverOvershoot(t *testing.T) {
	env := testenv.New(t, testenv.Options{})
	c := env.Client(t)
	sets := client.For[*appsv1.ReplicaSet](c).Namespace("default")
	pods := client.For[*corev1.Pod](c).Namespace("default")
	w, err := pods.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	size := int32(40)
	if _, err := sets.Create(t.Context(), &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"},
		Spec:       appsv1.ReplicaSetSpec{Replicas: &size, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template()},
	}); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int32{40, 90, 10, 60, 0} {
		size = n
		if _, err := sets.Patch(t.Context(), "web", client.MergePatch(map[string]any{"spec": map[string]any{"replicas": n}})); err != nil {
			t.Fatal(err)
		}
		waittest.One(t, sets, "web", fmt.Sprint(n, " replicas"), func(rs *appsv1.ReplicaSet) bool {
			return rs.Status.ObservedGeneration == rs.Generation && rs.Status.Replicas == n && rs.Status.AvailableReplicas == n &&
				(rs.Status.TerminatingReplicas == nil || *rs.Status.TerminatingReplicas == 0)
		})
	}
	// Exactly 40 + 50 + 50 pods are needed. The last pod created marks the end of the log.
	if _, err := pods.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "end", Namespace: "default"}, Spec: template().Spec}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for made := 0; ; {
		ev, err := w.Next(ctx)
		if err != nil {
			t.Fatalf("after %d pods: %v", made, err)
		}
		if ev.Type != watch.Added {
			continue
		}
		if ev.Object.Name == "end" {
			if made != 140 {
				t.Errorf("%d pods were made", made)
			}
			return
		}
		made++
	}
}
