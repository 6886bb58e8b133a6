package server_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"k8s.io/apimachinery/pkg/util/wait"

	"fairlead.dev/internal/purego"
)

// BenchmarkIdleWatch measures the server's memory, heap and stacks, for a waiting watch over TLS
// and HTTP/2. The client is a few bytes of framing, so that nearly all of the memory is the
// server's.
func BenchmarkIdleWatch(b *testing.B) {
	const connections, streams = 40, 100
	for _, q := range []struct{ name, path string }{
		{"one object", "/api/v1/namespaces/default/configmaps?watch=1&resourceVersion=2&allowWatchBookmarks=true&fieldSelector=metadata.name%%3Dm%d"},
		{"one topic", "/api/v1/configmaps?watch=1&resourceVersion=2&allowWatchBookmarks=true&n=%d"},
	} {
		b.Run(q.name, func(b *testing.B) {
			c := start(b)
			c.must("POST "+maps, `{"metadata":{"name":"first"}}`)
			for b.Loop() {
				conns := make([]*tls.Conn, connections)
				for i := range conns {
					conns[i] = dialIdle(b, c)
				}
				before := inUse()
				for i, conn := range conns {
					openIdle(b, c, conn, streams, func(n int) string { return fmt.Sprintf(q.path, i*streams+n) })
				}
				after := inUse()
				if name := os.Getenv("IDLE_PROFILE"); name != "" {
					f, _ := os.Create(name)
					pprof.Lookup("heap").WriteTo(f, 0)
					f.Close()
				}
				for i, what := range []string{"heap-B/watch", "stack-B/watch"} {
					b.ReportMetric(float64(after[i]-before[i])/(connections*streams), what)
				}
				b.ReportMetric(float64(after[0]+after[1]-before[0]-before[1])/(connections*streams), "B/watch")
				for _, conn := range conns {
					conn.Close()
				}
			}
		})
	}
}

// TestIdleWatchesHaveNoGoroutine checks that an open watch over HTTP/2 has only a place in its
// connection, and that events still arrive.
func TestIdleWatchesHaveNoGoroutine(t *testing.T) {
	if purego.Enabled {
		t.Skip("net/http has a goroutine for each stream")
	}
	const streams = 100
	c := start(t)
	c.must("POST "+maps, `{"metadata":{"name":"first"}}`)
	conn := dialIdle(t, c)
	before := runtime.NumGoroutine()
	openIdle(t, c, conn, streams, func(n int) string { return fmt.Sprint("/api/v1/configmaps?watch=1&resourceVersion=2&n=", n) })
	// A handler that has answered may not have returned yet.
	err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return runtime.NumGoroutine() < before+streams/10, nil
	})
	if err != nil {
		t.Errorf("%d goroutines for %d watches", runtime.NumGoroutine()-before, streams)
	}
	c.must("POST "+maps, `{"metadata":{"name":"second"}}`)
	f := http2.NewFramer(conn, conn)
	for seen := map[uint32]bool{}; len(seen) < streams; {
		frame, err := f.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if d, ok := frame.(*http2.DataFrame); ok && bytes.Contains(d.Data(), []byte(`"name":"second"`)) {
			seen[d.StreamID] = true
		}
	}
}

func inUse() [2]int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return [2]int64{int64(m.HeapAlloc), int64(m.StackInuse)}
}

func dialIdle(b testing.TB, c *cluster) *tls.Conn {
	cfg := c.client.Transport.(*http.Transport).TLSClientConfig.Clone()
	cfg.NextProtos = []string{"h2"}
	conn, err := tls.Dial("tcp", strings.TrimPrefix(c.http.URL, "https://"), cfg)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		b.Fatal(err)
	}
	f := http2.NewFramer(conn, conn)
	f.WriteSettings()
	f.WriteWindowUpdate(0, 1<<20)
	return conn
}

// openIdle opens streams and waits for the head of each response.
func openIdle(b testing.TB, c *cluster, conn *tls.Conn, streams int, path func(int) string) {
	f := http2.NewFramer(conn, conn)
	var head bytes.Buffer
	enc := hpack.NewEncoder(&head)
	for n := range streams {
		head.Reset()
		for _, h := range [][2]string{
			{":method", "GET"}, {":scheme", "https"}, {":authority", "server"}, {":path", path(n)},
			{"accept", "application/json"}, {"user-agent", "kubelet/v1.37.0 (linux/amd64) kubernetes/0123456"},
		} {
			enc.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]})
		}
		if err := f.WriteHeaders(http2.HeadersFrameParam{StreamID: uint32(2*n + 1), BlockFragment: head.Bytes(), EndStream: true, EndHeaders: true}); err != nil {
			b.Fatal(err)
		}
	}
	for begun := 0; begun < streams; {
		frame, err := f.ReadFrame()
		if err != nil {
			b.Fatal(err)
		}
		switch frame := frame.(type) {
		case *http2.HeadersFrame:
			begun++
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				f.WriteSettingsAck()
			}
		case *http2.GoAwayFrame, *http2.RSTStreamFrame:
			b.Fatal(frame)
		}
	}
}
