// Package waittest waits, in tests, for the effects of controllers, by watching instead of sleeping.
package waittest

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"fairlead.dev/client"
)

// patience is the time limit of a wait; it bounds failures, not successes.
const patience = 90 * time.Second

// For waits until the objects of the resource that the selector picks satisfy done, and returns them by name. If
// they never do, it fails the test and prints the last state.
func For[T client.Object](t testing.TB, r client.Resource[T], what, selector string, done func(map[string]T) bool) map[string]T {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		list, err := r.List(ctx, metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			t.Fatalf("waiting for %s: %v", what, err)
		}
		have := make(map[string]T, len(list.Items))
		for _, o := range list.Items {
			have[o.GetName()] = o
		}
		if done(have) {
			return have
		}
		if follow(ctx, r, selector, list.ResourceVersion, have, done) {
			return have
		}
		if ctx.Err() != nil {
			var last any
			for _, o := range have {
				last = o
			}
			t.Fatalf("waiting for %s: gave up at %d objects, one of them %+v", what, len(have), last)
		}
	}
}

// follow applies events until done, and reports whether it got there.
func follow[T client.Object](ctx context.Context, r client.Resource[T], selector, from string, have map[string]T, done func(map[string]T) bool) bool {
	w, err := r.Watch(ctx, metav1.ListOptions{LabelSelector: selector, ResourceVersion: from})
	if err != nil {
		return false
	}
	defer w.Stop()
	for {
		ev, err := w.Next(ctx)
		if err != nil {
			return false
		}
		switch ev.Type {
		case watch.Added, watch.Modified:
			have[ev.Object.GetName()] = ev.Object
		case watch.Deleted:
			delete(have, ev.Object.GetName())
		}
		if done(have) {
			return true
		}
	}
}

// One waits until the object of that name satisfies done, and returns it.
func One[T client.Object](t testing.TB, r client.Resource[T], name, what string, done func(T) bool) T {
	t.Helper()
	have := For(t, r, what, "", func(have map[string]T) bool {
		o, ok := have[name]
		return ok && done(o)
	})
	return have[name]
}

// Gone waits until there is no object of that name.
func Gone[T client.Object](t testing.TB, r client.Resource[T], name string) {
	t.Helper()
	For(t, r, name+" to be gone", "", func(have map[string]T) bool {
		_, ok := have[name]
		return !ok
	})
}
