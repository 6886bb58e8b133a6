package informertest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/client"
	"fairlead.dev/informer"
	"fairlead.dev/testenv"
)

// TestAgainstTheServer runs client and informers, in each encoding and form, against
// this project's own API server.
func TestAgainstTheServer(t *testing.T) {
	env := testenv.New(t, testenv.Options{NoControllers: true, NoScheduler: true, NoNodes: true})
	for _, ct := range []string{client.ContentTypeJSON, client.ContentTypeProtobuf} {
		t.Run(ct, func(t *testing.T) {
			c, err := client.New(env.Config(), client.Options{ContentType: ct})
			if err != nil {
				t.Fatal(err)
			}
			againstServer(t, c)
		})
	}
}

func againstServer(t *testing.T, c *client.Client) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	set := informer.NewSet(c)
	gvr := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	typed, partial, dynamic := informer.For[*corev1.ConfigMap](set), informer.Metadata(set, gvr, true), informer.Dynamic(set, gvr, true)
	calls := make(chan string, 1000)
	set.Start(ctx)
	defer set.Stop()
	must(set.Wait(ctx))
	before := typed.Store().Len()
	typed.Handle(informer.Handler[*corev1.ConfigMap]{
		Add: func(m *corev1.ConfigMap, initial bool) {
			if !initial {
				calls <- "add " + m.Name
			}
		},
		Update: func(_, m *corev1.ConfigMap) { calls <- "update " + m.Name + " " + m.Data["a"] },
		Delete: func(m *corev1.ConfigMap) { calls <- "delete " + m.Name },
	})

	maps := client.For[*corev1.ConfigMap](c).Namespace("default")
	var want []string
	var last *corev1.ConfigMap
	for n := range 50 {
		m, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("m", n), Labels: map[string]string{"test": "yes"}}})
		must(err)
		stale := m.DeepCopy()
		m = m.DeepCopy()
		m.Data = map[string]string{"a": "1"}
		m, err = maps.Update(ctx, m)
		must(err)
		if _, err := maps.Update(ctx, stale); !apierrors.IsConflict(err) {
			t.Errorf("update of an old state: %v", err)
		}
		now := m.DeepCopy()
		now.Data["a"] = "2"
		if _, err := maps.Patch(ctx, m.Name, client.MergeFromLocked(stale, now)); !apierrors.IsConflict(err) {
			t.Errorf("patch of an old state: %v", err)
		}
		last, err = maps.Patch(ctx, m.Name, client.MergeFromLocked(m, now))
		must(err)
		want = append(want, "add "+m.Name, "update "+m.Name+" 1", "update "+m.Name+" 2")
	}
	must(typed.Store().WaitFor(ctx, last.ResourceVersion))
	must(partial.Store().WaitFor(ctx, last.ResourceVersion))
	must(dynamic.Store().WaitFor(ctx, last.ResourceVersion))
	for _, n := range []int{typed.Store().Len(), partial.Store().Len(), dynamic.Store().Len()} {
		if n != before+50 {
			t.Errorf("stores hold %d, %d, %d; want %d", typed.Store().Len(), partial.Store().Len(), dynamic.Store().Len(), before+50)
			break
		}
	}
	if p, _ := partial.Store().Get("default", "m7"); p == nil || p.Labels["test"] != "yes" || p.Kind != "PartialObjectMetadata" {
		t.Errorf("metadata %v", p)
	}
	paged := 0
	for page, err := range maps.Pages(ctx, metav1.ListOptions{Limit: 13, LabelSelector: "test=yes"}) {
		must(err)
		paged += len(page.Items)
	}
	if paged != 50 {
		t.Errorf("%d in pages, want 50", paged)
	}
	if err := maps.Delete(ctx, "m0", *metav1.NewPreconditionDeleteOptions("another")); !apierrors.IsConflict(err) {
		t.Errorf("delete of another UID: %v", err)
	}
	must(maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "test=yes"}))
	gone := map[string]bool{}
	for i := range len(want) + 50 {
		select {
		case got := <-calls:
			if i < len(want) && got != want[i] {
				t.Fatalf("call %d is %q, want %q", i, got, want[i])
			}
			if i >= len(want) {
				gone[got] = true
			}
		case <-ctx.Done():
			t.Fatalf("%d calls of %d", i, len(want)+50)
		}
	}
	if len(gone) != 50 || !gone["delete m49"] {
		t.Errorf("deleted %v", gone)
	}
}
