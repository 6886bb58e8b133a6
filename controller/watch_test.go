package controller_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/informertest"
)

// TestWatchesOnSomeEvents checks On and If: of six events, one update counts, for its new and its old state, and one
// deletion.
func TestWatchesOnSomeEvents(t *testing.T) {
	s := informertest.New(t)
	put := func(name, shop, note string) {
		s.Put(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name,
			Labels: map[string]string{"shop": shop}, Annotations: map[string]string{"note": note}}})
	}
	put("a", "north", "")
	set := informer.NewSet(s.Client(t))
	pods := controller.ObjectsOf[*corev1.Pod](controller.Env{Client: s.Client(t), Informers: set})
	called := make(chan string, 100)
	c := controller.New("test", func(_ context.Context, k controller.Key) (controller.Result, error) {
		called <- k.Name
		return controller.Result{}, nil
	}, controller.Options{Workers: 1, Log: quiet()}).Watch(
		controller.Watches(pods, controller.Labelled[*corev1.Pod]("shop")).On(controller.Updated, controller.Deleted).If(
			func(old, pod *corev1.Pod) bool { return old.Labels["shop"] != pod.Labels["shop"] }),
	)
	ctx, cancel := context.WithCancel(t.Context())
	defer set.Stop()
	defer cancel()
	set.Start(ctx)
	if err := set.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	put("b", "east", "")
	put("a", "north", "noted")
	put("a", "south", "noted")
	s.Delete("default", "b")
	go c.Run(ctx)
	got := []string{<-called, <-called, <-called}
	if want := []string{"south", "north", "east"}; !slices.Equal(got, want) {
		t.Errorf("reconciled %v, want %v", got, want)
	}
	put("a", "west", "noted")
	if name := <-called; name != "west" {
		t.Errorf("then %s, want west", name)
	}
}

// TestReadsIsWaitedFor checks that no key is reconciled before an informer that is only read has its first list.
func TestReadsIsWaitedFor(t *testing.T) {
	api := informertest.New(t).Client(t)
	synctest.Test(t, func(t *testing.T) {
		pods := controller.ObjectsOf[*corev1.Pod](controller.Env{Client: api, Informers: informer.NewSet(api)}) // not started
		c := controller.New("test", func(_ context.Context, k controller.Key) (controller.Result, error) {
			t.Errorf("reconciled %s", k)
			return controller.Result{}, nil
		}, controller.Options{Log: quiet()}).Watch(controller.Reads(pods))
		c.Enqueue(web)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := c.Run(ctx); err != nil {
			t.Error(err)
		}
	})
}

// TestByObject checks that an existing object is reconciled, and a missing one forgotten.
func TestByObject(t *testing.T) {
	s := informertest.New(t)
	s.Put(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}})
	set := informer.NewSet(s.Client(t))
	pods := informer.For[*corev1.Pod](set)
	set.Start(t.Context())
	defer set.Stop()
	if err := set.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	var seen, gone []string
	reconcile := controller.ByObject(pods, func(_ context.Context, p *corev1.Pod) (controller.Result, error) {
		seen = append(seen, p.Name)
		return controller.Result{RequeueAfter: time.Second}, nil
	}, func(k controller.Key) { gone = append(gone, k.Name) })
	for name, want := range map[string]time.Duration{"web": time.Second, "other": 0} {
		res, err := reconcile(t.Context(), controller.Key{Namespace: "default", Name: name})
		if err != nil || res.RequeueAfter != want {
			t.Errorf("%s: %v, %v", name, res, err)
		}
	}
	if !slices.Equal(seen, []string{"web"}) || !slices.Equal(gone, []string{"other"}) {
		t.Errorf("reconciled %v, forgot %v", seen, gone)
	}
}
