package extension_test

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"fairlead.dev/server"
	"fairlead.dev/server/auth"
)

// deep is the schema of an object with so many levels and members on each.
func deep(levels, width int) string {
	if levels == 0 {
		return `{"type":"string","maxLength":64,"description":"A value that says what it is about, in as many words as such descriptions have."}`
	}
	var members []string
	for i := range width {
		members = append(members, fmt.Sprintf(`"m%d":%s`, i, deep(levels-1, width)))
	}
	return `{"type":"object","x-kubernetes-validations":[{"rule":"has(self.m0) || !has(self.m1)"}],"properties":{` + strings.Join(members, ",") + `}}`
}

// BenchmarkInstall is one of many definitions of 80 KB and 80 rules, from its
// write to its answer, by when its kind is served. It also says what memory the
// definition keeps.
func BenchmarkInstall(b *testing.B) {
	s := serve(b)
	schema := deep(4, 4)
	rt := server.Transport(s.api, &auth.User{Name: "admin"})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	b.ResetTimer()
	for i := range b.N {
		send(b, rt, "POST", definitions, definition(fmt.Sprintf("kind%ds", i), fmt.Sprintf("Kind%d", i), `{"deep":`+schema+`}`), 201)
	}
	b.StopTimer()
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(b.N)/1024, "KB/definition")
	b.ReportMetric(float64(len(schema))/1024, "KB/schema")
}

// BenchmarkObjects compares what objects of about the same size cost as config
// maps and as custom objects.
func BenchmarkObjects(b *testing.B) {
	maps := "/api/v1/namespaces/default/configmaps"
	value := strings.Repeat("x", 500)
	for _, c := range []struct{ name, path, body string }{
		{"builtin", maps, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"o%d"},"data":{"a":"` + value + `","b":"y"}}`},
		{"custom", gadgets, `{"apiVersion":"shop.example.com/v1","kind":"Gadget","metadata":{"name":"o%d"},"spec":{"a":"` + value + `","b":"y"}}`},
	} {
		s := serve(b)
		rt := server.Transport(s.api, &auth.User{Name: "admin"})
		send(b, rt, "POST", definitions, definition("gadgets", "Gadget", `{"a":{"type":"string"},"b":{"type":"string","default":"z"}}`), 201)
		made := 0
		b.Run("create/"+c.name, func(b *testing.B) {
			for range b.N {
				send(b, rt, "POST", c.path, fmt.Sprintf(c.body, made), 201)
				made++
			}
		})
		for ; made < 2000; made++ {
			send(b, rt, "POST", c.path, fmt.Sprintf(c.body, made), 201)
		}
		b.Run("patch/"+c.name, func(b *testing.B) {
			for i := range b.N {
				send(b, rt, "PATCH", c.path+"/o1", fmt.Sprintf(`{"metadata":{"labels":{"n":"%d"}}}`, i), 200)
			}
		})
		b.Run("list500/"+c.name, func(b *testing.B) {
			for range b.N {
				b.SetBytes(send(b, rt, "GET", c.path+"?limit=500", "", 200))
			}
		})
	}
}

func send(b *testing.B, rt http.RoundTripper, method, path, body string, code int) int64 {
	req, err := http.NewRequest(method, "http://memory"+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		req.Header.Set("Content-Type", "application/merge-patch+json")
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != code {
		b.Fatalf("%s %s: %d %.300s %v", method, path, resp.StatusCode, data, err)
	}
	return int64(len(data))
}
