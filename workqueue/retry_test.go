package workqueue_test

import (
	"testing"
	"testing/synctest"
	"time"

	"fairlead.dev/workqueue"
)

func TestRetryRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[int]{BaseDelay: time.Millisecond, RetryRate: 10, RetryBurst: 5})
		begun := time.Now()
		for i := range 10 {
			q.Retry(i)
		}
		for i := range 10 {
			k, _ := q.Get(t.Context())
			q.Done(k)
			due := max(time.Millisecond, time.Duration(i-4)*100*time.Millisecond)
			if at := time.Since(begun); at != due {
				t.Errorf("retry %d came after %v, want %v", i, at, due)
			}
		}
		time.Sleep(time.Minute) // the bucket is full again, and no fuller
		begun = time.Now()
		for i := range 6 {
			q.Retry(i + 100)
		}
		for range 6 {
			k, _ := q.Get(t.Context())
			q.Done(k)
		}
		if at := time.Since(begun); at != 100*time.Millisecond {
			t.Errorf("six retries after a pause took %v, want 100ms", at)
		}
	})
}

func TestRetryKeepsThePriority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		q.AddPriority("low", -1)
		get(t, q, "low")
		q.Retry("low")
		q.Done("low")
		q.AddAfter("plain", 10*time.Millisecond)
		time.Sleep(time.Second)
		want(t, take(t, q, 2), "plain low")
	})
}

// TestFailuresOutliveABurst: failures are remembered while a hundred thousand other keys
// come and go, and while the queue is empty.
func TestFailuresOutliveABurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[int]{BaseDelay: time.Second})
		for k := range 100_000 {
			if q.Add(k); k%10_000 == 0 {
				q.Retry(k)
			}
		}
		for range 100_000 {
			k, _ := q.Get(t.Context())
			q.Done(k)
		}
		for want := 1; want <= 2; want++ {
			for k := range 100_000 {
				if got := q.Failures(k); k%10_000 != 0 && got != 0 || k%10_000 == 0 && got != want {
					t.Fatalf("%d failures of %d in turn %d", got, k, want)
				}
			}
			begun := time.Now()
			for range 10 {
				k, _ := q.Get(t.Context())
				if at := time.Since(begun); k%10_000 != 0 || at != time.Second<<(want-1) {
					t.Fatalf("%d came after %v", k, at)
				}
				q.Retry(k)
				q.Done(k)
			}
		}
		q.Close()
		for k := range 100_000 {
			q.Forget(k)
		}
		if got := q.Failures(0); got != 0 {
			t.Errorf("%d failures after Forget", got)
		}
	})
}
