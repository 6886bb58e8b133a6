package controller_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/internal/informertest"
	"fairlead.dev/workqueue"
)

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

var web = controller.Key{Namespace: "default", Name: "web"}

func TestRetriesUntilItSucceeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls []time.Duration
		begun := time.Now()
		c := controller.New("test", func(context.Context, controller.Key) (controller.Result, error) {
			calls = append(calls, time.Since(begun))
			switch len(calls) {
			case 1:
				return controller.Result{RequeueAfter: time.Hour}, errors.New("no") // the error counts
			case 2:
				panic("boom")
			case 3:
				return controller.Result{RequeueAfter: time.Minute}, nil
			}
			return controller.Result{}, nil
		}, controller.Options{Workers: 1, Log: quiet(), Queue: workqueue.Options[controller.Key]{BaseDelay: time.Second}})
		c.Enqueue(web)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
		defer cancel()
		if err := c.Run(ctx); err != nil {
			t.Error(err)
		}
		want := []time.Duration{0, time.Second, 3 * time.Second, 63 * time.Second}
		if len(calls) != len(want) {
			t.Fatalf("called at %v, want %v", calls, want)
		}
		for i := range want {
			if calls[i] != want[i] {
				t.Errorf("called at %v, want %v", calls, want)
			}
		}
		if n := c.Failures(web); n != 0 {
			t.Errorf("%d failures after a success", n)
		}
	})
}

func TestMaxRetriesAndPanicsAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		calls := 0
		c := controller.New("test", func(context.Context, controller.Key) (controller.Result, error) {
			calls++
			panic("boom")
		}, controller.Options{MaxRetries: 3, Log: slog.New(slog.NewTextHandler(&log, nil))})
		c.Enqueue(web)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		c.Run(ctx)
		if calls != 4 {
			t.Errorf("%d calls, want the first and three more", calls)
		}
		if n := c.Panics(); n != 4 {
			t.Errorf("%d panics counted, want 4", n)
		}
		for _, want := range []string{"boom", "controller=test", "key=default/web", "controller_test.go", "last time"} {
			if !bytes.Contains(log.Bytes(), []byte(want)) {
				t.Errorf("log without %q:\n%s", want, log.Bytes())
			}
		}
	})
}

func TestStopWaitsForWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var began, ended atomic.Int32
		c := controller.New("test", func(ctx context.Context, _ controller.Key) (controller.Result, error) {
			began.Add(1)
			<-ctx.Done()
			time.Sleep(time.Minute) // it takes its time
			ended.Add(1)
			return controller.Result{}, ctx.Err()
		}, controller.Options{Workers: 2, Log: quiet()})
		for _, n := range []string{"a", "b", "c"} {
			c.Enqueue(controller.Key{Name: n})
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		c.Run(ctx)
		if began.Load() != 2 || ended.Load() != 2 {
			t.Errorf("%d began, %d ended; want 2 and 2", began.Load(), ended.Load())
		}
		if err := c.Run(ctx); err == nil {
			t.Error("it ran twice")
		}
	})
}

// TestWatches combines controller, informer and a server: owned pods enqueue their owner, and no reconcile sees an
// unsynced store.
func TestWatches(t *testing.T) {
	s := informertest.New(t)
	yes := true
	owned := func(name, owner string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
		if owner != "" {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: owner, Controller: &yes}}
		}
		return p
	}
	for _, n := range []string{"a", "b", "c"} {
		s.Put(owned(n, "set1"))
	}
	s.Put(owned("alone", ""))

	set := informer.NewSet(s.Client(t))
	pods := informer.For[*corev1.Pod](set)
	var mu sync.Mutex
	seen := map[string]int{} // owner -> pods at the last call
	moved := make(chan struct{}, 1)
	c := controller.New("test", func(_ context.Context, k controller.Key) (controller.Result, error) {
		mu.Lock()
		defer mu.Unlock()
		if _, ok := seen[k.Name]; !ok && k.Name == "set1" && pods.Store().Len() != 4 {
			t.Errorf("the first call sees %d pods of 4", pods.Store().Len())
		}
		seen[k.Name] = 0
		for _, p := range pods.Store().List(k.Namespace) {
			if ref := metav1.GetControllerOf(p); ref != nil && ref.Name == k.Name {
				seen[k.Name]++
			}
		}
		select {
		case moved <- struct{}{}:
		default:
		}
		return controller.Result{}, nil
	}, controller.Options{Log: quiet()}).Watch(controller.Owns(pods, "ReplicaSet"))
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	defer func() { cancel(); wg.Wait(); set.Stop() }()
	wg.Go(func() { c.Run(ctx) })
	set.Start(ctx)

	until := func(set1, set2 int) {
		t.Helper()
		limit := time.After(time.Minute)
		for {
			mu.Lock()
			ok := seen["set1"] == set1 && seen["set2"] == set2
			mu.Unlock()
			if ok {
				return
			}
			select {
			case <-moved:
			case <-limit:
				t.Fatalf("reconciled %v, want set1 %d, set2 %d", seen, set1, set2)
			}
		}
	}
	until(3, 0)
	s.Put(owned("a", "set2")) // the old owner must be enqueued too
	until(2, 1)
	s.Delete("default", "b")
	until(1, 1)
	mu.Lock()
	defer mu.Unlock()
	if len(seen) != 2 {
		t.Errorf("keys %v", seen)
	}
}

func TestExpectations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e controller.Expectations
		is := func(want bool) {
			t.Helper()
			if e.Satisfied(web) != want {
				t.Errorf("satisfied %v, want %v", !want, want)
			}
		}
		is(true)
		e.Created(web) // not ours
		is(true)
		e.ExpectCreates(web, 2)
		e.ExpectDeletes(web, "u1", "u2")
		e.Created(web)
		e.Created(web)
		is(false)
		e.Deleted(web, "u1")
		e.Deleted(web, "u1") // seen terminating, then gone
		is(false)
		e.Deleted(web, "u2")
		is(true)
		e.ExpectCreates(web, 1)
		is(false)
		time.Sleep(controller.ExpectationTimeout + 1)
		is(true)
		e.ExpectDeletes(web, "u3")
		e.Forget(web)
		is(true)
		e.ExpectCreates(web, 0)
		is(true)
	})
}

// TestMappings checks the keys of an object by its owners and its labels.
func TestMappings(t *testing.T) {
	yes := true
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", Labels: map[string]string{"shop": "north", "empty": ""},
		OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "set", Controller: &yes}, {Kind: "Team", Name: "blue"}, {Kind: "Team", Name: "red"}}}}
	for what, x := range map[string]struct {
		keys func(*corev1.Pod) []controller.Key
		want string
	}{
		"itself":             {controller.Self[*corev1.Pod], "[default/web]"},
		"its controller":     {controller.ControllerOf[*corev1.Pod]("ReplicaSet"), "[default/set]"},
		"no controller":      {controller.ControllerOf[*corev1.Pod]("Team"), "[]"},
		"its owners":         {controller.OwnersOf[*corev1.Pod]("Team"), "[default/blue default/red]"},
		"its label":          {controller.Labelled[*corev1.Pod]("shop"), "[default/north]"},
		"a label that is no": {controller.Labelled[*corev1.Pod]("empty"), "[]"},
		"a label it has not": {controller.Labelled[*corev1.Pod]("mall"), "[]"},
	} {
		if got := fmt.Sprint(x.keys(p)); got != x.want {
			t.Errorf("%s: %s, want %s", what, got, x.want)
		}
	}
}

// TestInCluster checks that keys get the cluster of their object unless they name another.
func TestInCluster(t *testing.T) {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	kept := []controller.Key{controller.KeyOf(p), {Cluster: "west", Name: "web"}}
	named := controller.KeysInCluster(func(*corev1.Pod) []controller.Key { return kept })
	for cluster, want := range map[string]string{"east": "[east:default/web west:web]", "": "[default/web west:web]"} {
		if got := fmt.Sprint(named(cluster, p)); got != want {
			t.Errorf("in %q: %s, want %s", cluster, got, want)
		}
	}
	if kept[0].Cluster != "" {
		t.Error("the mapping's own keys were changed")
	}
}
