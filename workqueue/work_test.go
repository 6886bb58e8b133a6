package workqueue_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fairlead.dev/workqueue"
)

func TestWorkYieldsUntilTheDrainIsOver(t *testing.T) {
	q := workqueue.New(workqueue.Options[string]{})
	q.Add("a")
	q.Add("b")
	var got []string
	for k := range q.Work(t.Context()) {
		got = append(got, k)
		if len(got) == 1 {
			q.Add("a") // comes again: Done follows the body
			q.Close()
		}
	}
	if want := []string{"a", "b", "a"}; !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
}

func TestWorkIsDoneHoweverTheBodyIsLeft(t *testing.T) {
	for name, leave := range map[string]func(*workqueue.Queue[string]){
		"break": func(q *workqueue.Queue[string]) {
			for range q.Work(t.Context()) {
				q.Add("a")
				break
			}
		},
		"panic": func(q *workqueue.Queue[string]) {
			defer func() { _ = recover() }()
			for range q.Work(t.Context()) {
				q.Add("a")
				panic("the work failed")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			q := workqueue.New(workqueue.Options[string]{})
			q.Add("a")
			leave(q)
			if q.Len() != 1 {
				t.Fatal("the key is still held")
			}
			get(t, q, "a")
		})
	}
}

func TestWorkWhoseBodyCallsDone(t *testing.T) {
	q := workqueue.New(workqueue.Options[string]{})
	q.Add("a")
	q.Add("b")
	q.Close()
	var got []string
	for k := range q.Work(t.Context()) {
		got = append(got, k)
		q.Done(k)
	}
	want(t, got, "a b")
	if err := q.Drain(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestWorkEndsNobodyElsesWork: the body calls Done itself, and another worker has the key by
// the time the loop goes on.
func TestWorkEndsNobodyElsesWork(t *testing.T) {
	q := workqueue.New(workqueue.Options[string]{})
	q.Add("a")
	for range q.Work(t.Context()) {
		q.Done("a")
		q.Add("a")
		get(t, q, "a") // the other worker
		q.Add("a")
		break
	}
	if q.Len() != 0 {
		t.Fatal("the key is ready while another worker has it")
	}
	q.Done("a")
	get(t, q, "a")
}

// TestWaitersThatLeave: when the contexts of some waiting calls end, the others get the
// keys.
func TestWaitersThatLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[int]{})
		var taken atomic.Int32
		for i := range 20 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+i)*time.Millisecond)
			defer cancel()
			if i == 19 {
				ctx = t.Context()
			}
			if i%2 == 0 {
				go func() {
					for range q.Work(ctx) {
						taken.Add(1)
					}
				}()
				continue
			}
			go func() {
				for {
					k, ok := q.Get(ctx)
					if !ok {
						return
					}
					taken.Add(1)
					q.Done(k)
				}
			}()
		}
		for i := range 20 {
			synctest.Wait()
			q.Add(2 * i)
			q.AddAfter(2*i+1, time.Millisecond)
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		if n := taken.Load(); n != 40 {
			t.Errorf("%d keys were taken, want 40", n)
		}
		q.Close()
		synctest.Wait()
	})
}
