package controller_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/client"
	"fairlead.dev/controller"
	"fairlead.dev/informer"
	"fairlead.dev/testenv"
	"fairlead.dev/trace"
)

// TestManyCauses checks that a reconcile names all events that enqueued its key meanwhile, also after a failure,
// and that its writes name eight of them.
func TestManyCauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const events = 50
		l := trace.New(trace.Options{})
		named := make(chan []int64, 3)
		more := make(chan struct{})
		passes := 0
		c := controller.New("c", func(ctx context.Context, _ controller.Key) (controller.Result, error) {
			passes++
			named <- trace.FromContext(ctx).Causes
			<-more
			if passes == 2 {
				return controller.Result{}, fmt.Errorf("not now")
			}
			return controller.Result{}, nil
		}, controller.Options{Workers: 1, Trace: l, Log: slog.New(slog.DiscardHandler)})
		k := controller.Key{Namespace: "ns", Name: "a"}
		at := func(from, to int) (revs []int64) {
			for rev := from; rev <= to; rev++ {
				revs = append(revs, int64(rev))
			}
			return revs
		}
		come := func(revs []int64) {
			for _, rev := range revs {
				c.EnqueueFor(k, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: fmt.Sprint(rev)}})
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- c.Run(ctx) }()
		come(at(1, 1))
		<-named
		come(at(2, events))
		more <- struct{}{}
		if got, want := <-named, append(at(2, 8), events); !slices.Equal(got, want) {
			t.Errorf("what is written names %v, want %v", got, want)
		}
		come(at(events+1, events+10))
		more <- struct{}{}
		<-named
		more <- struct{}{}
		synctest.Wait()
		works, _ := l.Reconciles(0)
		if len(works) != 3 || !slices.Equal(works[1].Causes, at(2, events)) || !slices.Equal(works[2].Causes, at(2, events+10)) {
			t.Errorf("works %+v", works)
		}
		stop()
		<-done
	})
}

// TestCausesAreBounded checks that the first causes and the last one are kept.
func TestCausesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trace.New(trace.Options{})
		c := controller.New("c", func(context.Context, controller.Key) (controller.Result, error) {
			return controller.Result{}, nil
		}, controller.Options{Workers: 1, Trace: l})
		for rev := 1; rev <= trace.MaxCauses+10; rev++ {
			c.EnqueueFor(web, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: fmt.Sprint(rev)}})
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- c.Run(ctx) }()
		synctest.Wait()
		works, _ := l.Reconciles(0)
		if len(works) != 1 {
			t.Fatalf("%d reconciles", len(works))
		}
		causes := works[0].Causes
		if n := len(causes); n != trace.MaxCauses || causes[0] != 1 || causes[n-2] != trace.MaxCauses-1 || causes[n-1] != trace.MaxCauses+10 {
			t.Errorf("%d causes, the last %d", n, causes[n-1])
		}
		stop()
		<-done
	})
}

// TestWantedDelay checks that a delay that the controller wants is recorded apart from the time in the queue, up to
// the event that enqueues the key at once.
func TestWantedDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trace.New(trace.Options{})
		c := controller.New("c", func(context.Context, controller.Key) (controller.Result, error) {
			return controller.Result{}, nil
		}, controller.Options{Workers: 1, Trace: l})
		pod := func(rev string) *corev1.Pod { return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: rev}} }
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- c.Run(ctx) }()
		synctest.Wait()
		c.EnqueueForAfter(controller.Key{Name: "late"}, pod("1"), 5*time.Second)
		c.EnqueueForAfter(controller.Key{Name: "earlier"}, pod("2"), 5*time.Second)
		time.Sleep(time.Second) // in the bubble
		c.EnqueueFor(controller.Key{Name: "earlier"}, pod("3"))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		works, _ := l.Reconciles(0)
		if len(works) != 3 || works[0].Key != "earlier" || works[0].Delay.Round(time.Millisecond) != time.Second || works[1].Key != "late" || works[1].Delay.Round(time.Millisecond) != 5*time.Second {
			t.Errorf("reconciles %+v", works)
		}
		stop()
		<-done
	})
}

// TestEventsBeforeTheReconcile checks that an event that arrives after a worker took its key, but before the
// reconcile begins, leads to no second reconcile: that one would have no cause.
func TestEventsBeforeTheReconcile(t *testing.T) {
	for !eventsBeforeTheReconcile(t) {
		t.Log("the machine stood still for as long as a controller waits for its own write: once more")
	}
}

// eventsBeforeTheReconcile reports false if the controller may not have waited for its own write until the events came.
func eventsBeforeTheReconcile(t *testing.T) bool {
	env := testenv.New(t, testenv.Options{NoControllers: true, NoScheduler: true, NoNodes: true})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	api := env.Client(t)
	maps := client.For[*corev1.ConfigMap](api).Namespace("default")
	if _, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "web"}}); err != nil {
		t.Fatal(err)
	}
	show := make(chan struct{})
	late := informer.New(client.For[*corev1.ConfigMap](api), informer.Options[*corev1.ConfigMap]{
		Namespace: "default",
		Transform: func(m *corev1.ConfigMap) *corev1.ConfigMap {
			if m.Data["written"] == "yes" {
				<-show
			}
			return m
		},
	})
	l := trace.New(trace.Options{})
	var written atomic.Bool
	c := controller.New("c", func(ctx context.Context, k controller.Key) (controller.Result, error) {
		if !written.CompareAndSwap(false, true) {
			return controller.Result{}, nil
		}
		m, err := maps.Get(ctx, k.Name)
		if err != nil {
			return controller.Result{}, err
		}
		m.Data = map[string]string{"written": "yes"}
		_, err = maps.Update(ctx, m)
		return controller.Result{}, err
	}, controller.Options{Workers: 1, Trace: l})
	c.Watch(controller.Reads(late))
	go late.Run(ctx)
	done := make(chan error)
	go func() { done <- c.Run(ctx) }()
	// until waits for a number of reconciles, and for one that a worker has taken its key for but that has not begun.
	until := func(ended, working int) {
		t.Helper()
		for {
			works, _ := l.Reconciles(0)
			if q := l.Queues(); len(works) == ended && len(q) == 1 && q[0].Working == working && q[0].Depth == 0 {
				return
			}
			if ctx.Err() != nil {
				t.Fatalf("reconciles %+v, queues %+v", works, l.Queues())
			}
			time.Sleep(time.Millisecond)
		}
	}
	event := func(rev string) {
		c.EnqueueFor(web, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: rev}})
	}
	event("1")
	until(1, 0)
	const patience = 5 * time.Second // of the controller
	began := time.Now()
	event("2")
	until(1, 1) // the worker waits for the write to be shown
	event("3")
	close(show)
	waited := time.Since(began) < patience
	until(2, 0)
	cancel()
	<-done
	works, _ := l.Reconciles(0)
	if waited && !slices.Equal(works[1].Causes, []int64{2, 3}) {
		t.Errorf("reconciles %+v", works)
	}
	return waited
}
