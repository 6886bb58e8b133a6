package workqueue_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	timerate "golang.org/x/time/rate"
	upstream "k8s.io/client-go/util/workqueue"

	"fairlead.dev/workqueue"
)

type name struct{ Namespace, Name string }

func names() []name {
	ks := make([]name, 1024)
	for i := range ks {
		ks[i] = name{"default", fmt.Sprintf("pod-%d", i)}
	}
	return ks
}

// BenchmarkAddGetDone moves different keys through a queue with some workers; client-go's
// queue does the same beside it.
func BenchmarkAddGetDone(b *testing.B) {
	for _, workers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("fairlead/workers=%d", workers), func(b *testing.B) {
			b.ReportAllocs()
			q := workqueue.New(workqueue.Options[int]{})
			var wg sync.WaitGroup
			for range workers {
				wg.Go(func() {
					for {
						k, ok := q.Get(b.Context())
						if !ok {
							return
						}
						q.Done(k)
					}
				})
			}
			for i := range b.N {
				q.Add(i)
			}
			q.Close()
			wg.Wait()
		})
		b.Run(fmt.Sprintf("client-go/workers=%d", workers), func(b *testing.B) {
			b.ReportAllocs()
			q := upstream.NewTyped[int]()
			var wg sync.WaitGroup
			for range workers {
				wg.Go(func() {
					for {
						k, down := q.Get()
						if down {
							return
						}
						q.Done(k)
					}
				})
			}
			for i := range b.N {
				q.Add(i)
			}
			q.ShutDownWithDrain()
			wg.Wait()
		})
	}
}

// BenchmarkWork is BenchmarkAddGetDone through the iterator.
func BenchmarkWork(b *testing.B) {
	for _, workers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			b.ReportAllocs()
			q := workqueue.New(workqueue.Options[int]{})
			var wg sync.WaitGroup
			for range workers {
				wg.Go(func() {
					for range q.Work(b.Context()) {
					}
				})
			}
			for i := range b.N {
				q.Add(i)
			}
			q.Close()
			wg.Wait()
		})
	}
}

// BenchmarkCycle is one key at a time through one goroutine: the cost without contention.
func BenchmarkCycle(b *testing.B) {
	ks := names()
	b.Run("fairlead", func(b *testing.B) {
		b.ReportAllocs()
		q := workqueue.New(workqueue.Options[name]{})
		for i := range b.N {
			q.Add(ks[i%len(ks)])
			k, _ := q.Get(b.Context())
			q.Done(k)
		}
	})
	b.Run("client-go", func(b *testing.B) {
		b.ReportAllocs()
		q := upstream.NewTyped[name]()
		for i := range b.N {
			q.Add(ks[i%len(ks)])
			k, _ := q.Get()
			q.Done(k)
		}
	})
}

// BenchmarkAddAfter puts keys into the wait and lets them come due.
func BenchmarkAddAfter(b *testing.B) {
	b.Run("fairlead", func(b *testing.B) {
		b.ReportAllocs()
		q := workqueue.New(workqueue.Options[int]{})
		for i := range b.N {
			q.AddAfter(i, time.Millisecond)
		}
		for range b.N {
			k, _ := q.Get(b.Context())
			q.Done(k)
		}
	})
	b.Run("client-go", func(b *testing.B) {
		b.ReportAllocs()
		q := upstream.NewTypedDelayingQueue[int]()
		defer q.ShutDown()
		for i := range b.N {
			q.AddAfter(i, time.Millisecond)
		}
		for range b.N {
			k, _ := q.Get()
			q.Done(k)
		}
	})
}

// BenchmarkRetry fails every key once: a delay by its failures and by the overall rate.
func BenchmarkRetry(b *testing.B) {
	const rate = 1e9 // asked for, and never in the way
	b.Run("fairlead", func(b *testing.B) {
		b.ReportAllocs()
		q := workqueue.New(workqueue.Options[int]{BaseDelay: time.Millisecond, RetryRate: rate})
		for i := range b.N {
			q.Retry(i)
		}
		for range b.N {
			k, _ := q.Get(b.Context())
			q.Forget(k)
			q.Done(k)
		}
	})
	b.Run("client-go", func(b *testing.B) {
		b.ReportAllocs()
		q := upstream.NewTypedRateLimitingQueue(upstream.NewTypedMaxOfRateLimiter[int](
			upstream.NewTypedItemExponentialFailureRateLimiter[int](time.Millisecond, time.Second),
			&upstream.TypedBucketRateLimiter[int]{Limiter: timerate.NewLimiter(rate, 1)}))
		defer q.ShutDown()
		for i := range b.N {
			q.AddRateLimited(i)
		}
		for range b.N {
			k, _ := q.Get()
			q.Forget(k)
			q.Done(k)
		}
	})
}

// BenchmarkReady measures the memory of a hundred thousand ready keys, without the keys
// themselves.
func BenchmarkReady(b *testing.B) {
	const n = 100_000
	ks := make([]name, n)
	for i := range ks {
		ks[i] = name{"default", fmt.Sprintf("pod-%d", i)}
	}
	hold := func(b *testing.B, fill func() any) {
		var before, after runtime.MemStats
		for range b.N {
			runtime.GC()
			runtime.ReadMemStats(&before)
			q := fill()
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "B/key")
			runtime.KeepAlive(q)
		}
	}
	b.Run("fairlead", func(b *testing.B) {
		hold(b, func() any {
			q := workqueue.New(workqueue.Options[name]{})
			for _, k := range ks {
				q.Add(k)
			}
			return q
		})
	})
	b.Run("client-go", func(b *testing.B) {
		hold(b, func() any {
			q := upstream.NewTyped[name]()
			for _, k := range ks {
				q.Add(k)
			}
			return q
		})
	})
}
