package watchcache_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"fairlead.dev/storage"
	"fairlead.dev/watchcache"

	"k8s.io/apimachinery/pkg/fields"
)

// feed is a Store that only hands its hub the benchmark's events, so that the figures are the
// cache's own.
type feed struct {
	storage.Store
	rev  storage.Revision
	kvs  []*storage.KeyValue
	next []storage.Event
	bell chan struct{}
}

func (f *feed) Revision() storage.Revision  { return f.rev }
func (f *feed) Compacted() storage.Revision { return 0 }
func (f *feed) Current(context.Context) (storage.Revision, error) {
	return f.rev, nil
}
func (f *feed) Range(context.Context, storage.RangeRequest) (storage.RangeResult, error) {
	return storage.RangeResult{KVs: f.kvs, Revision: f.rev}, nil
}
func (f *feed) Watch(storage.WatchRequest) (storage.Cursor, error) {
	return feedCursor{f}, nil
}

type feedCursor struct{ *feed }

func (f feedCursor) Next() (storage.Batch, error) {
	b := storage.Batch{Events: f.next, Progress: f.rev}
	f.next = nil
	return b, nil
}
func (f feedCursor) Bell() <-chan struct{} { return f.bell }
func (f feedCursor) Want(storage.Revision) {}
func (f feedCursor) Close()                {}

// pod is 3.5 KB as stored, of the shape of a running pod.
func pod(i int, node string) []byte {
	filler := strings.Repeat(`{"name":"c","image":"registry.example/app:v1","resources":{"requests":{"cpu":"100m"}}},`, 14)
	managed := strings.Repeat(`{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:containers":{}}},`, 20)
	return fmt.Appendf(nil, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"pod-%06d","namespace":"default","uid":"a5c0ffee-0000-4000-8000-%012d",`+
		`"creationTimestamp":"2026-01-01T00:00:00Z","labels":{"app":"app-%d","pod-template-hash":"5d4f8c7b9"},"managedFields":[%s{}]},`+
		`"spec":{"containers":[%s{}],"nodeName":%q,"restartPolicy":"Always"},"status":{"phase":"Running","podIP":"10.0.0.1","conditions":[%s{}]}}`,
		i, i, i%100, managed, filler, node, strings.Repeat(`{"type":"Ready","status":"True"},`, 14))
}

func podKV(i int, node string, rev storage.Revision) *storage.KeyValue {
	return &storage.KeyValue{Key: fmt.Sprintf("/registry/pods/default/pod-%06d", i), Value: pod(i, node), ModRevision: rev}
}

// benchCache holds n pods on as many nodes.
func benchCache(b *testing.B, n int) (*feed, *watchcache.Hub, *watchcache.Cache) {
	f := &feed{rev: 2, bell: make(chan struct{}, 1)}
	for i := range n {
		f.kvs = append(f.kvs, podKV(i, fmt.Sprintf("n%d", i), 2))
	}
	hub, err := watchcache.NewHub(f, watchcache.HubOptions{})
	if err != nil {
		b.Fatal(err)
	}
	return f, hub, hub.Add(podOptions)
}

func ownNode(node string) watchcache.Selection {
	return watchcache.Selection{Fields: fields.OneTermEqualSelector("spec.nodeName", node)}
}

// write changes one pod that has a node of its own.
func (f *feed) write(b *testing.B, hub *watchcache.Hub, kv *storage.KeyValue) {
	f.rev++
	kv2 := *kv
	kv2.ModRevision = f.rev
	f.next = []storage.Event{{KV: &kv2}}
	if err := hub.WaitFor(context.Background(), f.rev); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkWriteBesideNodeWatchers is one write, taken in, with watchers that
// each watch the pods of one node.
func BenchmarkWriteBesideNodeWatchers(b *testing.B) {
	for _, n := range []int{0, 1, 1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f, hub, pods := benchCache(b, 1000)
			for i := range n {
				if _, err := pods.Watch(b.Context(), ownNode(fmt.Sprintf("n%d", i)), 2); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				f.write(b, hub, f.kvs[i%1000])
			}
		})
	}
}

// BenchmarkFanOut is one write that 500 watchers of one topic see, each of them
// a goroutine that waits for its bell; per delivery.
func BenchmarkFanOut(b *testing.B) {
	const watchers = 500
	f, hub, pods := benchCache(b, 1000)
	ctx, cancel := context.WithCancel(b.Context())
	ran := make(chan struct{})
	go func() { hub.Run(ctx); close(ran) }()
	defer func() { cancel(); <-ran }()
	got := make(chan int, watchers)
	for range watchers {
		w, err := pods.Watch(ctx, watchcache.Selection{}, 2)
		if err != nil {
			b.Fatal(err)
		}
		go func() {
			defer w.Close()
			for {
				select {
				case <-ctx.Done():
					return
				case <-w.Bell():
				}
				if events, _, _ := w.Next(); len(events) > 0 {
					got <- len(events)
				}
			}
		}()
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		f.write(b, hub, f.kvs[i%1000])
		f.bell <- struct{}{}
		for n := 0; n < watchers; {
			n += <-got
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*watchers), "ns/delivery")
}

// BenchmarkDistinctSelectors is one write beside watchers with as many
// selectors that have to be evaluated.
func BenchmarkDistinctSelectors(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f, hub, pods := benchCache(b, 1000)
			for i := range n {
				if _, err := pods.Watch(b.Context(), sel(b, fmt.Sprintf("labels=app!=app-%d,tier!=x", i)), 2); err != nil {
					b.Fatal(err)
				}
			}
			for i := 0; b.Loop(); i++ {
				f.write(b, hub, f.kvs[i%1000])
			}
		})
	}
}

// BenchmarkList is a list of 10,000 pods of 3.5 KB.
func BenchmarkList(b *testing.B) {
	const n = 10_000
	f, hub, pods := benchCache(b, n)
	for _, c := range []struct {
		name string
		sel  watchcache.Selection
		max  int
	}{
		{"all", watchcache.Selection{}, 0},
		{"page", watchcache.Selection{}, 500},
		{"label", sel(b, "labels=app=app-7"), 0},
		{"scan", sel(b, "labels=app,app!=app-7,tier!=x"), 0},
		{"node", ownNode("n77"), 0},
	} {
		b.Run(c.name, func(b *testing.B) {
			buf := make([]byte, 0, 64<<10)
			bytes := 0
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				// The cache is written to between lists.
				f.write(b, hub, f.kvs[i%n])
				s, err := pods.Snapshot(context.Background(), watchcache.ReadAt{})
				if err != nil {
					b.Fatal(err)
				}
				bytes = 0
				for o := range list(s, c.sel, "", c.max) {
					if buf = o.AppendJSON(buf); len(buf) > 60<<10 {
						bytes += len(buf)
						buf = buf[:0]
					}
				}
				bytes += len(buf)
				buf = buf[:0]
			}
			b.ReportMetric(float64(bytes), "bytes/list")
		})
	}
}

// BenchmarkSnapshot takes a snapshot of 10,000 pods: of the current state without a change since
// the last one, with the write that came between, and of the past.
func BenchmarkSnapshot(b *testing.B) {
	take := func(b *testing.B, pods *watchcache.Cache, at watchcache.ReadAt) {
		if _, err := pods.Snapshot(context.Background(), at); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("same", func(b *testing.B) {
		_, _, pods := benchCache(b, 10_000)
		for b.Loop() {
			take(b, pods, watchcache.ReadAt{})
		}
	})
	b.Run("written", func(b *testing.B) {
		f, hub, pods := benchCache(b, 10_000)
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			f.write(b, hub, f.kvs[i%10_000])
			take(b, pods, watchcache.ReadAt{})
		}
	})
	b.Run("past", func(b *testing.B) {
		f, hub, pods := benchCache(b, 10_000)
		at := watchcache.ReadAt{Match: watchcache.Exact, Revision: f.rev}
		for i := range 100 {
			f.write(b, hub, f.kvs[i])
		}
		for b.Loop() {
			take(b, pods, at)
		}
	})
}

// BenchmarkWalk copies 10,000 pods of 3.5 KB in pieces of 16 KB, as connections do.
func BenchmarkWalk(b *testing.B) {
	_, _, pods := benchCache(b, 10_000)
	s, err := pods.Snapshot(context.Background(), watchcache.ReadAt{})
	if err != nil {
		b.Fatal(err)
	}
	buf := make([]byte, 0, 32<<10)
	b.ReportAllocs()
	for b.Loop() {
		w := walk(s, watchcache.Selection{Namespace: "default"}, "")
		for more := true; more; buf = buf[:0] {
			more = false
			for o := range w.Rest() {
				if buf = o.AppendJSON(buf); len(buf) > 16<<10 {
					more = true
					break
				}
			}
		}
	}
}

// BenchmarkCount counts the objects after a page.
func BenchmarkCount(b *testing.B) {
	_, _, pods := benchCache(b, 10_000)
	s, err := pods.Snapshot(context.Background(), watchcache.ReadAt{})
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		sel  watchcache.Selection
	}{
		{"all", watchcache.Selection{}},
		{"namespace", watchcache.Selection{Namespace: "default"}},
		{"scan", sel(b, "labels=app")},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if s.Count(c.sel, "/registry/pods/default/pod-000500") == 0 {
					b.Fatal("none")
				}
			}
		})
	}
}

// BenchmarkGet is a consistent read after each write.
func BenchmarkGet(b *testing.B) {
	f, hub, pods := benchCache(b, 10_000)
	f.write(b, hub, f.kvs[0])
	b.ReportAllocs()
	for b.Loop() {
		if o, _, err := pods.Get(context.Background(), "default", "pod-000077", watchcache.ReadAt{}); o == nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkIdleWatchers measures the memory of a waiting watcher: 100,000, each with a topic of its
// own or all in one.
func BenchmarkIdleWatchers(b *testing.B) {
	const n = 100_000
	for _, c := range []struct {
		name string
		sel  func(i int) watchcache.Selection
	}{
		{"own node", func(i int) watchcache.Selection { return ownNode(fmt.Sprintf("n%d", i)) }},
		{"one object", func(i int) watchcache.Selection {
			return watchcache.Selection{Namespace: "default", Name: fmt.Sprintf("pod-%06d", i)}
		}},
		{"one topic", func(int) watchcache.Selection { return watchcache.Selection{} }},
	} {
		b.Run(c.name, func(b *testing.B) {
			_, _, pods := benchCache(b, 10)
			for b.Loop() {
				ws := make([]*watchcache.Watcher, n)
				before := heap()
				for i := range ws {
					var err error
					if ws[i], err = pods.Watch(b.Context(), c.sel(i), 2); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(heap()-before)/n, "B/watcher")
				for _, w := range ws {
					w.Close()
				}
			}
		})
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// BenchmarkNewObject is the cost of every event before its attributes are read; with attributes,
// when a selector reads them.
func BenchmarkNewObject(b *testing.B) {
	_, _, pods := benchCache(b, 1)
	kv := podKV(1, "n1", 2)
	b.Run("splice", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := watchcache.NewObject(kv, pods); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("facts", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			o, _ := watchcache.NewObject(kv, pods)
			if o.Fields().Get("spec.nodeName") != "n1" {
				b.Fatal("not read")
			}
		}
	})
}
