package server_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"fairlead.dev/internal/cputime"
)

// BenchmarkWrites compares the costs of all ways to write a pod.
func BenchmarkWrites(b *testing.B) {
	const pods = "/api/v1/namespaces/default/pods"
	const apply = "application/apply-patch+yaml"
	noted := func(n int) string { return fmt.Sprintf(`{"metadata":{"annotations":{"n":"%d"}}}`, n) }
	applied := func(n int) string {
		return strings.Replace(podBody("web"), `"example.com/revision":"7"`, fmt.Sprintf(`"example.com/revision":"%d"`, n), 1)
	}
	without := func(n int) string { // gives up the label of the apply before
		return strings.Replace(podBody("web"), `"labels":{`, fmt.Sprintf(`"labels":{"l-%d":"x",`, n), 1)
	}
	managers := 0
	for _, w := range []struct {
		name, method, path, media string
		body                      func(n int) string
	}{
		{"update", "PUT", "/web", "application/json", applied},
		{"merge", "PATCH", "/web", "application/merge-patch+json", noted},
		{"merge-same", "PATCH", "/web", "application/merge-patch+json", func(int) string { return noted(0) }},
		{"strategic", "PATCH", "/web", "application/strategic-merge-patch+json", noted},
		{"status", "PATCH", "/web/status", "application/strategic-merge-patch+json", func(n int) string {
			return fmt.Sprintf(`{"status":{"message":"%d"}}`, n)
		}},
		{"apply", "PATCH", "/web?fieldManager=bench", apply, applied},
		{"apply-same", "PATCH", "/web?fieldManager=bench", apply, func(int) string { return applied(0) }},
		{"apply-less", "PATCH", "/web?fieldManager=bench", apply, without},
		{"apply-force", "PATCH", "/web?force=true&fieldManager=bench-", apply, applied},
	} {
		b.Run(w.name, func(b *testing.B) {
			wires(b, func(b *testing.B, c *cluster, rt http.RoundTripper, base string) {
				if w.media == apply {
					write(b, rt, w.method, base+pods+w.path, w.media, w.body(0))
				} else {
					write(b, rt, "POST", base+pods, "application/json", podBody("web"))
				}
				b.ReportAllocs()
				n, before := 0, cputime.Used()
				for b.Loop() {
					n++
					path := w.path
					if strings.HasSuffix(path, "-") { // two managers take the field from each other
						managers++
						path += strconv.Itoa(managers % 2)
					}
					write(b, rt, w.method, base+pods+path, w.media, w.body(n))
				}
				reportCPU(b, before)
			})
		})
	}
}

// BenchmarkDelete deletes ConfigMaps, which are removed at once.
func BenchmarkDelete(b *testing.B) {
	wires(b, func(b *testing.B, c *cluster, rt http.RoundTripper, base string) {
		maps := base + "/api/v1/namespaces/default/configmaps"
		for n := range b.N {
			write(b, rt, "POST", maps, "application/json", fmt.Sprintf(`{"metadata":{"name":"m-%d"},"data":{"k":"v"}}`, n))
		}
		b.ReportAllocs()
		b.ResetTimer()
		before := cputime.Used()
		for n := range b.N {
			write(b, rt, "DELETE", fmt.Sprintf("%s/m-%d", maps, n), "application/json", "")
		}
		reportCPU(b, before)
	})
}

// write does one request with a body of the media type, which must succeed.
func write(b *testing.B, rt http.RoundTripper, method, url, media, body string) {
	b.Helper()
	req, _ := http.NewRequest(method, url, bytes.NewReader([]byte(body)))
	req.Header.Set("Content-Type", media)
	resp, err := rt.RoundTrip(req)
	if err != nil {
		b.Fatal(err)
	}
	data, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		b.Fatal(resp.StatusCode, string(data))
	}
}

// BenchmarkPodLife is the server's work for a pod until it runs: create, bind, and replace the
// status by the node's. An op is the three writes.
func BenchmarkPodLife(b *testing.B) {
	wires(b, func(b *testing.B, c *cluster, rt http.RoundTripper, base string) {
		const pods = "/api/v1/namespaces/default/pods"
		b.ReportAllocs()
		n, before := 0, cputime.Used()
		for b.Loop() {
			n++
			name := fmt.Sprint("web-", n)
			write(b, rt, "POST", base+pods, "application/json", podBody(name))
			write(b, rt, "POST", base+pods+"/"+name+"/binding", "application/json", `{"metadata":{"name":"`+name+`"},"target":{"kind":"Node","name":"node-1"}}`)
			write(b, rt, "PUT", base+pods+"/"+name+"/status", "application/json", runningBody(name))
		}
		reportCPU(b, before)
	})
}

// runningBody is podBody's pod with the status of a running one.
func runningBody(name string) string {
	const at = `"2030-01-01T00:00:00Z"`
	var conditions []string
	for _, c := range []string{"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"} {
		conditions = append(conditions, `{"type":"`+c+`","status":"True","lastProbeTime":null,"lastTransitionTime":`+at+`}`)
	}
	return strings.TrimSuffix(podBody(name), "}") + `,"status":{"phase":"Running","conditions":[` + strings.Join(conditions, ",") +
		`],"hostIP":"10.0.0.1","hostIPs":[{"ip":"10.0.0.1"}],"podIP":"10.1.0.1","podIPs":[{"ip":"10.1.0.1"}],"startTime":` + at +
		`,"containerStatuses":[{"name":"web","state":{"running":{"startedAt":` + at + `}},"lastState":{},"ready":true,"restartCount":0,` +
		`"image":"registry.example.com/shop/web:1.4.2","imageID":"registry.example.com/shop/web@sha256:0","containerID":"containerd://0","started":true}],"qosClass":"Burstable"}}`
}
