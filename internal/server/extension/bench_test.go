package extension_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/server"
	"fairlead.dev/storage/local"
)

// deep returns the schema of an object with the given number of levels and of members on each.
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

// BenchmarkInstall measures a definition of 80 KB with 80 rules among many, from its write to the response, at
// which its kind is served. It also reports the memory that the definition keeps.
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

// BenchmarkMany measures 500 definitions of 16 KB and 17 rules, written one after the other, and reports the
// slowest. Each kind is served when its write returns.
func BenchmarkMany(b *testing.B) {
	const many = 500
	members := make([]string, 16)
	for i := range members {
		members[i] = fmt.Sprintf(`"part%d":%s`, i, deep(1, 6))
	}
	properties := "{" + strings.Join(members, ",") + "}"
	for b.Loop() {
		store, err := local.Open(b.TempDir(), local.Options{}) // so that the store keeps no second copy in memory
		if err != nil {
			b.Fatal(err)
		}
		s := serveFrom(b, store)
		rt := server.Transport(s.api, &auth.User{Name: "admin"})
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		begin, slowest := time.Now(), time.Duration(0)
		for i := range many {
			one := time.Now()
			plural := fmt.Sprintf("kind%ds", i)
			send(b, rt, "POST", definitions, definition(plural, fmt.Sprintf("Kind%d", i), properties), 201)
			slowest = max(slowest, time.Since(one))
		}
		b.ReportMetric(time.Since(begin).Seconds(), "s/all")
		b.ReportMetric(float64(slowest.Microseconds())/1000, "ms/slowest")
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/many/1024, "KB/definition")
		b.ReportMetric(float64(len(properties))/1024, "KB/schema")
		s.stop()
		store.Close()
	}
}

// BenchmarkServed measures the time from the write of a small definition to an object of its kind.
func BenchmarkServed(b *testing.B) {
	s := serve(b)
	rt := server.Transport(s.api, &auth.User{Name: "admin"})
	i := 0
	for b.Loop() {
		plural := fmt.Sprintf("kind%ds", i)
		send(b, rt, "POST", definitions, definition(plural, fmt.Sprintf("Kind%d", i), `{"a":{"type":"string"}}`), 201)
		send(b, rt, "POST", "/apis/shop.example.com/v1/"+plural, fmt.Sprintf(`{"apiVersion":"shop.example.com/v1","kind":"Kind%d","metadata":{"name":"o"},"spec":{"a":"x"}}`, i), 201)
		i++
	}
}

// BenchmarkObjects compares the cost of objects of about the same size as config maps and as custom objects.
func BenchmarkObjects(b *testing.B) {
	maps := "/api/v1/namespaces/default/configmaps"
	value := strings.Repeat("x", 500)
	for _, c := range []struct{ name, path, body string }{
		{"builtin", maps, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"o%d","labels":{"n":"%d"}},"data":{"a":"` + value + `","b":"y"}}`},
		{"custom", gadgets, `{"apiVersion":"shop.example.com/v1","kind":"Gadget","metadata":{"name":"o%d","labels":{"n":"%d"}},"spec":{"a":"` + value + `","b":"y"}}`},
	} {
		s := serve(b)
		rt := server.Transport(s.api, &auth.User{Name: "admin"})
		send(b, rt, "POST", definitions, definition("gadgets", "Gadget", `{"a":{"type":"string","maxLength":1000},"b":{"type":"string","default":"z","pattern":"^[a-z]*$"},"c":{"type":"array","items":{"type":"string"}}}`), 201)
		made := 0
		b.Run("create/"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				send(b, rt, "POST", c.path, fmt.Sprintf(c.body, made, made), 201)
				made++
			}
		})
		for ; made < 2000; made++ {
			send(b, rt, "POST", c.path, fmt.Sprintf(c.body, made, made), 201)
		}
		n := 0 // of the write: makes each one different
		b.Run("update/"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			var now map[string]any
			if err := json.Unmarshal(receive(b, rt, "GET", c.path+"/o1", "", 200), &now); err != nil {
				b.Fatal(err)
			}
			meta := now["metadata"].(map[string]any)
			delete(meta, "resourceVersion")
			delete(meta, "managedFields")
			if c.path == gadgets {
				meta["resourceVersion"] = "%[2]s"
			}
			meta["labels"] = map[string]any{"n": "%[1]d"}
			text, err := json.Marshal(now)
			if err != nil {
				b.Fatal(err)
			}
			for range b.N {
				b.StopTimer()
				data := receive(b, rt, "GET", c.path+"/o1", "", 200)
				at := strings.Index(string(data), `"resourceVersion":"`) + len(`"resourceVersion":"`)
				rv, _, _ := strings.Cut(string(data[at:]), `"`)
				n++
				body := strings.NewReplacer("%[1]d", fmt.Sprint(n), "%[2]s", rv).Replace(string(text))
				b.StartTimer()
				send(b, rt, "PUT", c.path+"/o1", body, 200)
			}
		})
		b.Run("patch/"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				n++
				send(b, rt, "PATCH", c.path+"/o1", fmt.Sprintf(`{"metadata":{"labels":{"n":"%d"}}}`, n), 200)
			}
		})
		b.Run("apply/"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				n++
				send(b, rt, "APPLY", c.path+"/applied?fieldManager=me", fmt.Sprintf(strings.Replace(c.body, "o%d", "applied", 1), n), 0)
			}
		})
		b.Run("list500/"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				b.SetBytes(send(b, rt, "GET", c.path+"?limit=500", "", 200))
			}
		})
		b.Run("watch/"+c.name, func(b *testing.B) { // the initial events of 2,000
			b.ReportAllocs()
			for range b.N {
				ctx, cancel := context.WithCancel(b.Context())
				req, err := http.NewRequestWithContext(ctx, "GET", "http://memory"+c.path+"?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true", nil)
				if err != nil {
					b.Fatal(err)
				}
				resp, err := rt.RoundTrip(req)
				if err != nil || resp.StatusCode != 200 {
					b.Fatal(err)
				}
				lines := bufio.NewReaderSize(resp.Body, 1<<20)
				for {
					line, err := lines.ReadSlice('\n')
					if err != nil {
						b.Fatal(err)
					}
					if bytes.HasPrefix(line, []byte(`{"type":"BOOKMARK"`)) {
						break
					}
				}
				cancel()
				resp.Body.Close()
			}
		})
	}
}

// send sends a request and checks the code; 0 accepts any success.
func send(b *testing.B, rt http.RoundTripper, method, path, body string, code int) int64 {
	return int64(len(receive(b, rt, method, path, body, code)))
}

func receive(b *testing.B, rt http.RoundTripper, method, path, body string, code int) []byte {
	kind := "application/json"
	switch method {
	case http.MethodPatch:
		kind = "application/merge-patch+json"
	case "APPLY":
		method, kind = http.MethodPatch, "application/apply-patch+yaml"
	}
	req, err := http.NewRequest(method, "http://memory"+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Content-Type", kind)
	resp, err := rt.RoundTrip(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != code && (code != 0 || resp.StatusCode/100 != 2) {
		b.Fatalf("%s %s: %d %.300s %v", method, path, resp.StatusCode, data, err)
	}
	return data
}
