package server_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/internal/cputime"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/server"
	"fairlead.dev/watchcache"
)

// BenchmarkWriteBesideWatchers is one patch of a pod, in process, beside watchers that each watch
// the pods of one node, or one secret.
func BenchmarkWriteBesideWatchers(b *testing.B) {
	for _, n := range []int{0, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := start(b)
			rt := server.Transport(c.server, &auth.User{Name: "bench"})
			const pods = 10_000
			for i := range pods {
				send(b, rt, "POST", "http://memory/api/v1/namespaces/default/pods", podBody(fmt.Sprint("web-", i)))
			}
			inPods := c.server.Cache(schema.GroupResource{Resource: "pods"})
			inSecrets := c.server.Cache(schema.GroupResource{Resource: "secrets"})
			for i := range n {
				var err error
				if i%2 == 0 {
					_, err = inPods.Watch(b.Context(), watchcache.Selection{Fields: fields.OneTermEqualSelector("spec.nodeName", fmt.Sprint("n", i))}, 0)
				} else {
					_, err = inSecrets.Watch(b.Context(), watchcache.Selection{Namespace: "default", Name: fmt.Sprint("s", i)}, 0)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			runtime.GC()
			b.ResetTimer()
			before := cputime.Used()
			for i := 0; b.Loop(); i++ {
				patch(b, rt, fmt.Sprint("http://memory/api/v1/namespaces/default/pods/web-", i%pods), i)
			}
			reportCPU(b, before)
		})
	}
}

func patch(b *testing.B, rt http.RoundTripper, url string, n int) {
	req, _ := http.NewRequest("PATCH", url, strings.NewReader(fmt.Sprintf(`{"metadata":{"annotations":{"n":"%d"}}}`, n)))
	req.Header.Set("Content-Type", "application/merge-patch+json")
	resp, err := rt.RoundTrip(req)
	if err != nil {
		b.Fatal(err)
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	if resp.StatusCode != 200 {
		b.Fatal(resp.StatusCode)
	}
}

// reader is a client that reads the rest of its response once every client has received a part.
type reader struct {
	header http.Header
	begun  *sync.WaitGroup
	once   sync.Once
	// through closes a watch once it has begun.
	through func()
}

func (r *reader) Header() http.Header { return r.header }
func (r *reader) WriteHeader(int)     {}
func (r *reader) Flush()              {}

func (r *reader) Write(p []byte) (int, error) {
	r.once.Do(func() {
		r.begun.Done()
		r.begun.Wait()
	})
	if bytes.Contains(p[max(0, len(p)-400):], []byte("k8s.io/initial-events-end")) {
		r.through()
	}
	runtime.Gosched()
	return len(p), nil
}

// BenchmarkCrowd is many concurrent lists of 10,000 pods, or watches that begin with them; an op
// is a whole crowd. It reports by how much the memory's peak grows for each of them, and the time
// of a get meanwhile.
func BenchmarkCrowd(b *testing.B) {
	const pods = 10_000
	c := start(b)
	rt := server.Transport(c.server, &auth.User{Name: "bench"})
	for i := range pods {
		send(b, rt, "POST", "http://memory/api/v1/namespaces/default/pods", podBody(fmt.Sprint("web-", i)))
	}
	const list, begin = "/api/v1/pods", "/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
	for _, q := range []struct {
		name, path, accept string
		crowd              int
	}{
		{"list/16", list, "application/json", 16},
		{"list/1000", list, "application/json", 1000},
		{"list protobuf/16", list, "application/vnd.kubernetes.protobuf", 16},
		{"list protobuf/1000", list, "application/vnd.kubernetes.protobuf", 1000},
		{"watchlist/16", begin, "application/json", 16},
		{"watchlist/1000", begin, "application/json", 1000},
		{"watchlist protobuf/16", begin, "application/vnd.kubernetes.protobuf", 16},
		{"watchlist protobuf/1000", begin, "application/vnd.kubernetes.protobuf", 1000},
	} {
		b.Run(q.name, func(b *testing.B) {
			read := func(begun *sync.WaitGroup) {
				ctx, cancel := context.WithCancel(b.Context())
				defer cancel()
				req := httptest.NewRequestWithContext(ctx, "GET", q.path, nil)
				req.Header.Set("Accept", q.accept)
				c.server.ServeHTTP(&reader{header: http.Header{}, begun: begun, through: cancel}, req)
			}
			for b.Loop() {
				// The first one makes the encodings that all share.
				var alone sync.WaitGroup
				alone.Add(1)
				read(&alone)
				before := held()
				var peak atomic.Int64
				stop, sampled := make(chan struct{}), make(chan struct{})
				go func() {
					defer close(sampled)
					for {
						select {
						case <-stop:
							return
						case <-time.After(20 * time.Millisecond):
						}
						peak.Store(max(peak.Load(), spans()))
					}
				}()
				var took []time.Duration
				var wg sync.WaitGroup
				var begun sync.WaitGroup
				begun.Add(q.crowd)
				for range q.crowd {
					wg.Go(func() { read(&begun) })
				}
				done := make(chan struct{})
				go func() { wg.Wait(); close(done) }()
				for i, open := 0, true; open; i++ {
					t := time.Now()
					send(b, rt, "GET", fmt.Sprint("http://memory/api/v1/namespaces/default/pods/web-", i%pods), "")
					took = append(took, time.Since(t))
					select {
					case <-done:
						open = false
					case <-time.After(time.Millisecond):
					}
				}
				close(stop)
				<-sampled
				slices.Sort(took)
				b.ReportMetric(float64(peak.Load()-before)/float64(q.crowd)/1024, "peak-KB/request")
				b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "get-ms-median")
			}
		})
	}
}

// spans is the memory that the runtime has in use, live or not yet collected.
func spans() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// held is the memory in use after a full collection.
func held() int64 {
	debug.FreeOSMemory()
	return spans()
}
