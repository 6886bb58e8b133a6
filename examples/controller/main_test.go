package main

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/client"
	"fairlead.dev/testenv"
)

// A namespace that asks is greeted, and greeted again when the greeting is taken away.
func TestGreeter(t *testing.T) {
	env := testenv.New(t, testenv.Options{NoNodes: true})
	m, err := newGreeter(env.Config())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- m.Run(ctx) }()
	defer func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	maps := client.For[*corev1.ConfigMap](env.Client(t)).Namespace("default")
	greetings, err := maps.Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=greeting"})
	if err != nil {
		t.Fatal(err)
	}
	defer greetings.Stop()
	next := func(want watch.EventType) {
		t.Helper()
		e, err := greetings.Next(t.Context())
		if err != nil || e.Type != want || e.Object.Data["text"] != "hello world" {
			t.Fatalf("%s %v %v, want %s", e.Type, e.Object, err, want)
		}
	}
	ask := client.MergePatch(map[string]any{"metadata": map[string]any{"labels": map[string]any{"greet": "world"}}})
	if _, err := client.For[*corev1.Namespace](env.Client(t)).Patch(t.Context(), "default", ask); err != nil {
		t.Fatal(err)
	}
	next(watch.Added)
	if err := maps.Delete(t.Context(), "greeting"); err != nil {
		t.Fatal(err)
	}
	next(watch.Deleted)
	next(watch.Added)
}
