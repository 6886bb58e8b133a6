package workqueue_test

import (
	"fmt"
	"sync"
	"testing"

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
			q := workqueue.New[int](workqueue.Options{})
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

// BenchmarkCycle is one key at a time through one goroutine: the cost without contention.
func BenchmarkCycle(b *testing.B) {
	ks := names()
	b.Run("fairlead", func(b *testing.B) {
		b.ReportAllocs()
		q := workqueue.New[name](workqueue.Options{})
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
