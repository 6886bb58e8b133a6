package server_test

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairlead.dev/internal/cputime"
	"fairlead.dev/internal/server/admission"
	"fairlead.dev/server"
)

// TestDeleteCollectionMeets concurrent changes: an object that is changed after it was admitted
// is decided on anew; one that is deleted meanwhile is no failure; one that is refused ends the
// request, with the objects before it deleted and those behind it untouched.
func TestDeleteCollectionMeets(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	done := map[string][]bool{}
	var c *cluster
	c = start(t, func(cfg *server.Config) {
		cfg.Admission = admission.Chain{plugin(func(r *admission.Request) error {
			if r.Verb != admission.Delete {
				return nil
			}
			mu.Lock()
			again := slices.Contains(asked, r.Name)
			asked = append(asked, r.Name)
			mu.Unlock()
			switch r.Name {
			case "m1":
				if !again {
					c.must("PUT "+maps+"/m1", `{"metadata":{"name":"m1"},"data":{"changed":"yes"}}`)
				}
			case "m4":
				return errors.New("this one stays")
			}
			r.OnDone(func(written bool) {
				mu.Lock()
				defer mu.Unlock()
				done[r.Name] = append(done[r.Name], written)
			})
			return nil
		})}
	})
	for i := range 6 {
		c.must("POST "+maps, fmt.Sprintf(`{"metadata":{"name":"m%d"}}`, i))
	}
	c.must("PATCH "+maps+"/m2 application/merge-patch+json", `{"metadata":{"finalizers":["example.com/hold"]}}`)

	if a := c.do("DELETE "+maps, ""); a.code == http.StatusOK || !strings.Contains(a.body, "this one stays") {
		t.Errorf("the answer is %d %s", a.code, a.body)
	}
	if want := []string{"m0", "m1", "m2", "m3", "m4", "m1"}; !reflect.DeepEqual(asked, want) {
		t.Errorf("asked about %v, want %v", asked, want)
	}
	if want := map[string][]bool{"m0": {true}, "m1": {false, true}, "m2": {true}, "m3": {true}}; !reflect.DeepEqual(done, want) {
		t.Errorf("told of %v, want %v", done, want)
	}
	c.talk([]exchange{
		{send: "GET " + maps, code: 200, want: []string{`"name":"m2"`, `"name":"m4"`, `"name":"m5"`, `!"name":"m0"`, `!"name":"m1"`, `!"name":"m3"`}},
		{send: "GET " + maps + "/m2", code: 200, want: []string{`"deletionTimestamp":"`}},
		{send: "GET " + maps + "/m5", code: 200, want: []string{`!deletionTimestamp`}},
	})
}

// TestDeleteCollectionAndDelete checks that an object deleted first by another client is no
// failure.
func TestDeleteCollectionAndDelete(t *testing.T) {
	var c *cluster
	var first atomic.Bool
	c = start(t, func(cfg *server.Config) {
		cfg.Admission = admission.Chain{plugin(func(r *admission.Request) error {
			if r.Verb == admission.Delete && first.CompareAndSwap(false, true) {
				c.must("DELETE "+maps+"/m1", "")
			}
			return nil
		})}
	})
	for i := range 3 {
		c.must("POST "+maps, fmt.Sprintf(`{"metadata":{"name":"m%d"}}`, i))
	}
	c.talk([]exchange{
		{send: "DELETE " + maps, code: 200, want: []string{`"name":"m1"`}},
		{send: "GET " + maps, code: 200, want: []string{`"items":[]`}},
	})
}

// BenchmarkDeleteCollection deletes 1,000 pods that run on a node, which stay as terminating, and
// as many config maps, which are removed.
func BenchmarkDeleteCollection(b *testing.B) {
	const n = 1000
	for _, w := range []struct {
		name, path string
		body       func(name string) string
	}{
		{"pods", "/api/v1/namespaces/default/pods", func(name string) string {
			return strings.Replace(podBody(name), `"spec":{`, `"spec":{"nodeName":"node-1",`, 1)
		}},
		{"configmaps", maps, func(name string) string {
			return fmt.Sprintf(`{"metadata":{"name":%q},"data":{"k":"v"}}`, name)
		}},
	} {
		b.Run(w.name, func(b *testing.B) {
			wires(b, func(b *testing.B, c *cluster, rt http.RoundTripper, base string) {
				round, cpu := 0, time.Duration(0)
				b.ReportAllocs()
				for b.Loop() {
					b.StopTimer()
					round++
					for i := range n {
						send(b, rt, "POST", base+w.path, w.body(fmt.Sprintf("o-%d-%d", round, i)))
					}
					b.StartTimer()
					before := cputime.Used()
					send(b, rt, "DELETE", base+w.path, "")
					cpu += cputime.Used() - before
					b.StopTimer()
					if w.name == "pods" { // removes them before the next round
						send(b, rt, "DELETE", base+w.path+"?gracePeriodSeconds=0", "")
					}
					b.StartTimer()
				}
				b.ReportMetric(float64(cpu.Microseconds())/float64(b.N)/n, "us-cpu/object")
			})
		})
	}
}
