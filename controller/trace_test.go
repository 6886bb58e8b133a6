package controller

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
		c := New("c", func(ctx context.Context, k Key) (Result, error) {
			passes++
			named <- trace.FromContext(ctx).Causes
			<-more
			if passes == 2 {
				return Result{}, fmt.Errorf("not now")
			}
			return Result{}, nil
		}, Options{Workers: 1, Trace: l, Log: slog.New(slog.DiscardHandler)})
		k := Key{Namespace: "ns", Name: "a"}
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
	var c cause
	for rev := range int64(trace.MaxCauses + 10) {
		c.note(rev)
	}
	if n := len(c.revisions); n != trace.MaxCauses || c.revisions[0] != 0 || c.revisions[n-1] != trace.MaxCauses+9 {
		t.Errorf("%d causes, the last %d", n, c.revisions[n-1])
	}
}

// TestWantedDelay checks that a delay that the controller wants is recorded apart from the time in the queue, up to
// the event that enqueues the key at once.
func TestWantedDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := trace.New(trace.Options{})
		c := New("c", func(context.Context, Key) (Result, error) { return Result{}, nil }, Options{Workers: 1, Trace: l})
		pod := func(rev string) *corev1.Pod { return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: rev}} }
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- c.Run(ctx) }()
		synctest.Wait()
		c.EnqueueForAfter(Key{Name: "late"}, pod("1"), 5*time.Second)
		c.EnqueueForAfter(Key{Name: "earlier"}, pod("2"), 5*time.Second)
		time.Sleep(time.Second) // in the bubble
		c.EnqueueFor(Key{Name: "earlier"}, pod("3"))
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
	synctest.Test(t, func(t *testing.T) {
		l := trace.New(trace.Options{})
		c := New("c", func(context.Context, Key) (Result, error) { return Result{}, nil }, Options{Workers: 1, Trace: l})
		k := Key{Name: "a"}
		shown := make(chan struct{})
		c.ownWrites.sources = []source{{wait: func(context.Context, string) error { <-shown; return nil }}}
		c.ownWrites.keep(k, []revision{{0, 1, "1"}})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- c.Run(ctx) }()
		for _, rev := range []string{"2", "3"} {
			c.EnqueueFor(k, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: rev}})
			synctest.Wait() // the worker waits for the write of revision 1
		}
		close(shown)
		synctest.Wait()
		works, _ := l.Reconciles(0)
		if len(works) != 1 || !slices.Equal(works[0].Causes, []int64{2, 3}) {
			t.Errorf("reconciles %+v", works)
		}
		stop()
		<-done
	})
}
