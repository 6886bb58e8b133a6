package compat

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

type watchEvent = watch.Event

// gone waits until a list is empty, by list and then watch, so that no event can
// be missed in between.
func gone(t *testing.T, lw cache.ListerWatcher, what string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		list, err := lw.List(metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		accessor, err := meta.ListAccessor(list)
		if err != nil {
			t.Fatal(err)
		}
		if meta.LenList(list) == 0 {
			t.Logf("seen: %s", what)
			return
		}
		w, err := lw.Watch(metav1.ListOptions{ResourceVersion: accessor.GetResourceVersion()})
		if err != nil {
			t.Fatal(err)
		}
		deleted := false
		for !deleted {
			select {
			case e, ok := <-w.ResultChan():
				deleted = !ok || e.Type == watch.Deleted || e.Type == watch.Error
			case <-ctx.Done():
				t.Fatalf("waiting for %s: %v", what, ctx.Err())
			}
		}
		w.Stop()
	}
}
