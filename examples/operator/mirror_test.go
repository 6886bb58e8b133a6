package main

import (
	"context"
	"testing"

	"fairlead.dev/client"
	"fairlead.dev/testenv"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// The operator against a whole control plane: it copies, follows changes, and the
// garbage collector, which no fake has, takes the copy away with its owner.
func TestMirror(t *testing.T) {
	env := testenv.Start(t, testenv.Options{Nodes: -1})
	ctx, cancel := context.WithCancel(t.Context())
	m, err := newMirror(env.Config())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- m.Run(ctx) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()

	c := env.Client(t)
	maps := client.For[*corev1.ConfigMap](c).Namespace("default")
	secrets, err := client.For[*corev1.Secret](c).Namespace("default").Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer secrets.Stop()
	next := func(want watch.EventType, value string) {
		t.Helper()
		e, err := secrets.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(e.Object.Data["key"]); e.Type != want || got != value {
			t.Fatalf("%s with key=%q, want %s with %q", e.Type, got, want, value)
		}
	}

	source := &corev1.ConfigMap{Data: map[string]string{"key": "one"}}
	source.Name, source.Labels = "source", map[string]string{"mirror": "secret"}
	if source, err = maps.Create(ctx, source); err != nil {
		t.Fatal(err)
	}
	next(watch.Added, "one")
	source.Data["key"] = "two"
	if _, err := maps.Update(ctx, source); err != nil {
		t.Fatal(err)
	}
	next(watch.Modified, "two")
	if err := maps.Delete(ctx, source.Name); err != nil {
		t.Fatal(err)
	}
	next(watch.Deleted, "two")
}
