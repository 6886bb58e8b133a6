package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// TestMemoryLimit: a server with a limit on its memory sends lists piece by piece, however long they are, refuses lists and watches
// if their pieces would exceed the limit, answers small requests meanwhile, and stays below the limit under many lists.
func TestMemoryLimit(t *testing.T) {
	const limit, objects, size = 256, 60, 800_000 // MiB; 48 MB of objects
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	p := up(t, t.TempDir(), "--in-memory", fmt.Sprintf("--memory-limit=%dMi", limit), "--nodes=0", "--watch-history=1Mi")
	defer p.stop()
	maps := p.clientset().CoreV1().ConfigMaps("default")
	blob := strings.Repeat("x", size)
	for i := range objects {
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("large-", i)}, Data: map[string]string{"blob": blob}}
		if _, err := maps.Create(ctx, m, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	config := p.config()
	// Each request has a connection of its own, so that one which is not read holds up no other.
	get := func(path string, accept ...string) *http.Response {
		t.Helper()
		one := rest.CopyConfig(config)
		one.NextProtos = []string{"http/1.1"}
		tls, err := rest.TLSConfigFor(one)
		if err != nil {
			t.Fatal(err)
		}
		tr := &http.Transport{TLSClientConfig: tls, DisableCompression: true}
		t.Cleanup(tr.CloseIdleConnections)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header["Accept"] = accept
		res, err := (&http.Client{Transport: tr}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	// Requests that are not read keep their memory, so that the limit is reached, whatever the heap is. A refusal causes a garbage
	// collection, after which the server may admit a few more.
	var open []*http.Response
	fill := func(kind, path string, accept ...string) {
		t.Helper()
		for range limit {
			res := get(path, accept...)
			if res.StatusCode == http.StatusOK {
				open = append(open, res)
				continue
			}
			body, err := io.ReadAll(res.Body)
			res.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
			text := strings.Join(strings.Fields(string(body)), " ") // YAML breaks lines
			if res.StatusCode != http.StatusTooManyRequests || res.Header.Get("Retry-After") == "" || !strings.Contains(text, "short of memory: this "+kind) || !strings.Contains(text, "TooManyRequests") {
				t.Errorf("a %s beyond the limit: %s %v %.300s", kind, res.Status, res.Header, body)
			}
			return
		}
		t.Fatalf("no %s is refused", kind)
	}
	const list = "/api/v1/configmaps"
	fill("list", list)
	t.Logf("%d lists of %d MB at once", len(open), objects*size/1_000_000)
	if len(open)*objects*size < limit<<20 {
		t.Errorf("%d lists at once are refused, of which only pieces are in memory", len(open)+1)
	}
	fill("list", list, "application/yaml")
	fill("watch", list+"?watch=1")
	for _, path := range []string{"/api/v1/namespaces", list + "?limit=1", "/readyz", "/api/v1/namespaces/default/configmaps/large-0"} {
		res := get(path)
		if res.StatusCode != http.StatusOK {
			t.Errorf("%s meanwhile: %s", path, res.Status)
		}
		res.Body.Close()
	}
	if _, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "small"}}, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
	for _, res := range open {
		res.Body.Close()
	}

	// Clients that read, and come back when they are refused, all get their list.
	clients := 64
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			client, err := rest.HTTPClientFor(config)
			if err != nil {
				t.Error(err)
				return
			}
			for {
				req, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+list, nil)
				if err != nil {
					t.Error(err)
					return
				}
				res, err := client.Do(req)
				if err != nil {
					t.Error(err)
					return
				}
				n, err := io.Copy(io.Discard, res.Body)
				res.Body.Close()
				if res.StatusCode == http.StatusOK {
					if err != nil || n < objects*size {
						t.Errorf("a list of %d bytes: %v", n, err)
					}
					return
				}
				if res.StatusCode != http.StatusTooManyRequests {
					t.Errorf("a list: %s", res.Status)
					return
				}
			}
		})
	}
	all.Wait()
	metrics := p.kubectl("get", "--raw", "/metrics")
	for _, name := range []string{`fairlead_memory_limit_bytes`, `fairlead_memory_live_bytes`, `fairlead_memory_refusals_total{kind="list"}`, `fairlead_memory_refusals_total{kind="watch"}`} {
		if value(t, metrics, name) <= 0 {
			t.Errorf("%s is not counted", name)
		}
	}
	if runtime.GOOS == "linux" {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID))
		if err != nil {
			t.Fatal(err)
		}
		// Pages of files, such as the program's own, can be given back at any time, and count in no cgroup as used up.
		peak := kilobytes(t, string(status), "VmHWM:") - kilobytes(t, string(status), "RssFile:")
		t.Logf("the process had %d MiB at most", peak>>10)
		if peak>>10 > limit {
			t.Errorf("the process had %d MiB of %d", peak>>10, limit)
		}
	}
}

// kilobytes returns a line's value in a process's status.
func kilobytes(t *testing.T, status, name string) int {
	t.Helper()
	_, rest, _ := strings.Cut(status, name)
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kb
}

// value returns the value of a metric.
func value(t *testing.T, metrics, name string) float64 {
	t.Helper()
	for s := bufio.NewScanner(strings.NewReader(metrics)); s.Scan(); {
		if text, ok := strings.CutPrefix(s.Text(), name+" "); ok {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
	}
	t.Errorf("there is no %s", name)
	return 0
}
