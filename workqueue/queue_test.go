package workqueue_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fairlead.dev/workqueue"
)

func get(t *testing.T, q *workqueue.Queue[string], want string) {
	t.Helper()
	if k, ok := q.Get(t.Context()); k != want || !ok {
		t.Fatalf("got %q %v, want %q", k, ok, want)
	}
}

func TestAKeyIsThereOnce(t *testing.T) {
	q := workqueue.New(workqueue.Options[string]{})
	for range 3 {
		q.Add("a")
		q.Add("b")
	}
	if q.Len() != 2 {
		t.Fatalf("length %d, want 2", q.Len())
	}
	get(t, q, "a")
	q.Add("a") // while it is being worked on
	q.Add("a")
	get(t, q, "b")
	if q.Len() != 0 {
		t.Fatal("a key is ready while it is being worked on")
	}
	q.Done("a")
	get(t, q, "a")
	q.Done("a")
	q.Done("b")
	q.Done("b") // no work to end
	if q.Len() != 0 {
		t.Fatal("a key came back unasked")
	}
}

func TestGetEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, ok := q.Get(ctx); ok {
			t.Error("got a key from an empty queue")
		}
		q.Add("a")
		if _, ok := q.Get(ctx); ok {
			t.Error("got a key with a context that is over")
		}
	})
}

func TestDelays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		begun := time.Now()
		q.AddAfter("c", 3*time.Second)
		q.AddAfter("a", 5*time.Second)
		q.AddAfter("b", 2*time.Second)
		q.AddAfter("a", time.Second) // earlier counts
		q.AddAfter("b", time.Hour)   // later does not
		q.AddAfter("now", 0)
		for i, want := range []string{"now", "a", "b", "c"} {
			get(t, q, want)
			if at := time.Since(begun); at != time.Duration(i)*time.Second {
				t.Errorf("%s came after %v, want %ds", want, at, i)
			}
			q.Done(want)
		}
		time.Sleep(2 * time.Hour)
		if q.Len() != 0 {
			t.Error("a key came twice")
		}
	})
}

// TestEarlierTimesCount moves thousands of waiting keys to earlier times, again and again:
// each comes once, at the earliest time that it was given.
func TestEarlierTimesCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[int]{})
		begun := time.Now()
		rnd := rand.New(rand.NewPCG(1, 2))
		due := map[int]time.Duration{}
		for round := range 10 {
			for k := range 2000 {
				d := time.Duration(1+rnd.IntN(10000>>round)) * time.Millisecond
				if k%10 == 0 { // those that stand in line
					d = time.Duration(k+10000>>round) * time.Millisecond
				}
				q.AddAfter(k, d)
				if was, ok := due[k]; !ok || d < was {
					due[k] = d
				}
			}
		}
		for range len(due) {
			k, ok := q.Get(t.Context())
			if at := time.Since(begun); !ok || at != due[k] {
				t.Fatalf("%d came after %v, want %v", k, at, due[k])
			}
			delete(due, k)
			q.Done(k)
		}
		time.Sleep(time.Hour)
		if q.Len() != 0 || len(due) != 0 {
			t.Errorf("%d keys came twice and %d not at all", q.Len(), len(due))
		}
	})
}

func TestRetryBacksOffPerKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{BaseDelay: time.Second, MaxDelay: 10 * time.Second})
		for i, want := range []time.Duration{1, 2, 4, 8, 10, 10} {
			begun := time.Now()
			q.Retry("a")
			get(t, q, "a")
			if d := time.Since(begun); d != want*time.Second {
				t.Errorf("retry %d after %v, want %v", i, d, want*time.Second)
			}
			q.Done("a")
			if q.Failures("a") != i+1 {
				t.Errorf("%d failures, want %d", q.Failures("a"), i+1)
			}
		}
		if q.Failures("b") != 0 {
			t.Error("the failures of a count for b")
		}
		q.Forget("a")
		begun := time.Now()
		q.Retry("a")
		get(t, q, "a")
		if d := time.Since(begun); d != time.Second {
			t.Errorf("after Forget the delay is %v", d)
		}
	})
}

func TestCloseDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		q.Add("again")
		q.Add("b")
		q.AddAfter("late", time.Second)
		get(t, q, "again")
		q.Add("again")
		q.Close()
		q.Add("c")
		q.AddAfter("d", time.Second)
		get(t, q, "b")
		q.Done("b")

		var ended atomic.Int32
		for range 3 { // workers that find no key ready, but delayed ones
			go func() {
				for {
					k, ok := q.Get(t.Context())
					if !ok {
						ended.Add(1)
						return
					}
					if k != "again" {
						t.Errorf("got %q from a closed queue", k)
					}
					q.Done(k)
				}
			}()
		}
		synctest.Wait()
		if n := ended.Load(); n != 0 {
			t.Fatalf("%d workers ended before the drain", n)
		}
		q.Done("again")
		synctest.Wait()
		if n := ended.Load(); n != 3 {
			t.Fatalf("%d of 3 workers ended", n)
		}
		q.Close()
	})
}

// TestNeverTheSameKeyTwice lets many add and many work, and checks the two promises: one
// worker per key at a time, and a look at each key after its last change.
func TestNeverTheSameKeyTwice(t *testing.T) {
	const keys, workers, adders, adds = 20, 8, 8, 5000
	q := workqueue.New(workqueue.Options[int]{BaseDelay: time.Microsecond, MaxDelay: time.Microsecond})
	var version, seen [keys]atomic.Int64
	var busy [keys]atomic.Bool
	var working, adding sync.WaitGroup
	for range workers {
		working.Go(func() {
			for {
				k, ok := q.Get(t.Context())
				if !ok {
					return
				}
				if !busy[k].CompareAndSwap(false, true) {
					t.Errorf("key %d is with two workers", k)
				}
				seen[k].Store(version[k].Load())
				busy[k].Store(false)
				q.Done(k)
			}
		})
	}
	for a := range adders {
		adding.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(a), 0))
			for range adds {
				k := rnd.IntN(keys)
				version[k].Add(1)
				q.Add(k)
			}
		})
	}
	adding.Wait()
	q.Close()
	working.Wait()
	for k := range keys {
		if seen[k].Load() != version[k].Load() {
			t.Errorf("key %d seen at %d, changed last at %d", k, seen[k].Load(), version[k].Load())
		}
	}
}

func Example() {
	q := workqueue.New(workqueue.Options[string]{})
	q.Add("default/web")
	q.Add("default/web")
	q.Close()
	for {
		k, ok := q.Get(context.Background())
		if !ok {
			break
		}
		fmt.Println(k)
		q.Done(k)
	}
	// Output: default/web
}
