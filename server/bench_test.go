package server_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairlead.dev/internal/cputime"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/server"
)

// podBody is a pod of ordinary size.
func podBody(name string) string {
	return `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"` + name + `","namespace":"default","labels":{"app":"web","pod-template-hash":"5d59d67564"},` +
		`"annotations":{"example.com/revision":"7"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-5d59d67564","uid":"9a8e6f5c-3a4e-4a57-9c1b-4f2b5a3d2c1e","controller":true,"blockOwnerDeletion":true}]},` +
		`"spec":{"containers":[{"name":"web","image":"registry.example.com/shop/web:1.4.2","ports":[{"containerPort":8080,"protocol":"TCP"}],"env":[{"name":"MODE","value":"production"},{"name":"POD_NAME","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],` +
		`"resources":{"limits":{"cpu":"500m","memory":"256Mi"},"requests":{"cpu":"100m","memory":"128Mi"}},"readinessProbe":{"httpGet":{"path":"/healthz","port":8080}},"volumeMounts":[{"name":"config","mountPath":"/etc/web"}]}],` +
		`"volumes":[{"name":"config","configMap":{"name":"web"}}],"serviceAccountName":"web","nodeSelector":{"kubernetes.io/os":"linux"},"tolerations":[{"key":"dedicated","operator":"Equal","value":"web","effect":"NoSchedule"}]}}`
}

func reportCPU(b *testing.B, before time.Duration) {
	b.ReportMetric(float64((cputime.Used()-before).Microseconds())/float64(b.N), "us-cpu/op")
}

// send does one request through rt and reads the whole response.
func send(b *testing.B, rt http.RoundTripper, method, url, body string) {
	req, _ := http.NewRequest(method, url, bytes.NewReader([]byte(body)))
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		b.Error(err)
		return
	}
	data, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		b.Error(resp.StatusCode, string(data))
	}
}

// wires are the ways to the server. The memory transport shows the cost of the handler by
// itself.
func wires(b *testing.B, run func(b *testing.B, c *cluster, rt http.RoundTripper, base string), change ...func(*server.Config)) {
	b.Run("memory", func(b *testing.B) {
		c := start(b, change...)
		run(b, c, server.Transport(c.server, &auth.User{Name: "bench"}), "http://memory")
	})
	b.Run("https", func(b *testing.B) {
		c := start(b, change...)
		run(b, c, c.client.Transport, c.http.URL)
	})
}

func BenchmarkCreatePod(b *testing.B) { wires(b, createPods) }

func createPods(b *testing.B, _ *cluster, rt http.RoundTripper, base string) {
	var n atomic.Int64
	b.ReportAllocs()
	b.ResetTimer()
	before := cputime.Used()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			send(b, rt, "POST", base+"/api/v1/namespaces/default/pods", podBody(fmt.Sprint("web-", n.Add(1))))
		}
	})
	reportCPU(b, before)
}

func BenchmarkGetPod(b *testing.B) {
	wires(b, func(b *testing.B, c *cluster, rt http.RoundTripper, base string) {
		send(b, rt, "POST", base+"/api/v1/namespaces/default/pods", podBody("web"))
		b.ReportAllocs()
		b.ResetTimer()
		before := cputime.Used()
		for b.Loop() {
			send(b, rt, "GET", base+"/api/v1/namespaces/default/pods/web", "")
		}
		reportCPU(b, before)
	})
}

func BenchmarkPatchPod(b *testing.B) {
	wires(b, func(b *testing.B, c *cluster, rt http.RoundTripper, base string) {
		c.must("POST /api/v1/namespaces/default/pods", podBody("web"))
		before := cputime.Used()
		n := 0
		for b.Loop() {
			n++
			req, _ := http.NewRequest("PATCH", base+"/api/v1/namespaces/default/pods/web", strings.NewReader(fmt.Sprintf(`{"metadata":{"annotations":{"n":"%d"}}}`, n)))
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
		reportCPU(b, before)
	})
}

func BenchmarkListPods(b *testing.B) {
	const pods = 2000
	c := start(b)
	rt := server.Transport(c.server, &auth.User{Name: "bench"})
	for i := range pods {
		send(b, rt, "POST", "http://memory/api/v1/namespaces/default/pods", podBody(fmt.Sprint("web-", i)))
	}
	for _, q := range []struct{ name, query, accept string }{
		{"json", "", ""},
		{"protobuf", "", "application/vnd.kubernetes.protobuf"},
		{"page", "?limit=500", ""},
	} {
		b.Run(q.name, func(b *testing.B) {
			before := cputime.Used()
			var size int64
			for b.Loop() {
				req, _ := http.NewRequest("GET", c.http.URL+"/api/v1/pods"+q.query, nil)
				if q.accept != "" {
					req.Header.Set("Accept", q.accept)
				}
				resp, err := c.client.Do(req)
				if err != nil {
					b.Fatal(err)
				}
				size, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
			reportCPU(b, before)
			b.ReportMetric(float64(size)/1e6, "MB")
		})
	}
}

// BenchmarkFrames is a watch in memory that begins 200 events ago, in each encoding; an op is
// all of its frames. Encodings other than JSON are made once and then shared.
func BenchmarkFrames(b *testing.B) {
	const events = 200
	c := start(b)
	rt := server.Transport(c.server, &auth.User{Name: "bench"})
	const pod = "http://memory/api/v1/namespaces/default/pods"
	send(b, rt, "POST", pod, podBody("web"))
	for i := range events - 1 {
		patch(b, rt, pod+"/web", i)
	}
	for _, k := range []struct{ name, accept string }{
		{"json", "application/json"},
		{"protobuf", "application/vnd.kubernetes.protobuf"},
		{"table", "application/json;as=Table;v=v1;g=meta.k8s.io"},
	} {
		b.Run(k.name, func(b *testing.B) {
			before := cputime.Used()
			for b.Loop() {
				req, _ := http.NewRequestWithContext(b.Context(), "GET", pod+"?watch=1&resourceVersion=1", nil)
				req.Header.Set("Accept", k.accept)
				resp, err := rt.RoundTrip(req)
				if err != nil {
					b.Fatal(err)
				}
				frames := bufio.NewReaderSize(resp.Body, 64<<10)
				for range events {
					if k.name != "protobuf" {
						_, err = frames.ReadSlice('\n')
					} else {
						var size [4]byte
						if _, err = io.ReadFull(frames, size[:]); err == nil {
							_, err = frames.Discard(int(binary.BigEndian.Uint32(size[:])))
						}
					}
					if err != nil {
						b.Fatal(err)
					}
				}
				resp.Body.Close()
			}
			reportCPU(b, before)
		})
	}
}

// BenchmarkFanout is one write delivered to all watchers; an op is a delivery.
func BenchmarkFanout(b *testing.B) { wires(b, fanOut) }

func fanOut(b *testing.B, _ *cluster, rt http.RoundTripper, base string) {
	const watchers = 200
	send(b, rt, "POST", base+"/api/v1/namespaces/default/pods", podBody("web"))
	events := b.N/watchers + 1
	var wg sync.WaitGroup
	for range watchers {
		req, _ := http.NewRequest("GET", base+"/api/v1/pods?watch=1&resourceVersion=2", nil)
		resp, err := rt.RoundTrip(req)
		if err != nil {
			b.Fatal(err)
		}
		wg.Go(func() {
			defer resp.Body.Close()
			lines := bufio.NewReaderSize(resp.Body, 64<<10)
			for range events {
				if _, err := lines.ReadSlice('\n'); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	b.ResetTimer()
	before := cputime.Used()
	for n := range events {
		patchWeb(b, rt, base, n)
	}
	wg.Wait()
	reportCPU(b, before)
}

// patchWeb makes the nth version of the pod web.
func patchWeb(b *testing.B, rt http.RoundTripper, base string, n int) {
	req, _ := http.NewRequest("PATCH", base+"/api/v1/namespaces/default/pods/web", strings.NewReader(fmt.Sprintf(`{"metadata":{"annotations":{"n":"%d"}}}`, n)))
	req.Header.Set("Content-Type", "application/merge-patch+json")
	resp, err := rt.RoundTrip(req)
	if err != nil {
		b.Fatal(err)
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
}
