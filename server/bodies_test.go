package server_test

import (
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"context"
	"runtime"
	"sync"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/server"
)

// seeds are the bodies that spoil changes.
var seeds = []string{
	`{"kind":"Pod","apiVersion":"v1","metadata":{"name":"x","labels":{"a":"b"},"annotations":{"n":"1"},"finalizers":["example.com/f"]},"spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80}],"resources":{"limits":{"cpu":"1"}}}]}}`,
	`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x"},"data":{"a":"b"},"binaryData":{"k":"eA=="},"immutable":false}`,
	`{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"x"},"spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}},"strategy":{"rollingUpdate":{"maxSurge":"25%"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`,
	`{"metadata":{"labels":{"a":null,"z":"y"},"managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:a":{}}}}]},"data":{"a":null},"spec":{"replicas":3,"containers":[{"name":"c","$patch":"delete"}],"$setElementOrder/containers":[{"name":"c"}]}}`,
	`[{"op":"add","path":"/metadata/labels","value":{"q":"r"}},{"op":"test","path":"/kind","value":"Pod"},{"op":"copy","from":"/metadata","path":"/data"},{"op":"remove","path":"/spec/containers/0"}]`,
	"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n  labels: {a: b}\ndata:\n  a: |\n    b\n",
	`{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":1,"propagationPolicy":"Foreground","preconditions":{"uid":"u","resourceVersion":"1"},"dryRun":["All"]}`,
	`{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"x"},"spec":{"replicas":1}}`,
	"\xd9\xd9\xf7\xa4\x64kind\x69ConfigMap\x6aapiVersion\x62v1\x68metadata\xa1\x64name\x61x\x64data\xa1\x61a\x61b",
	"k8s\x00\n\x0f\n\x02v1\x12\tConfigMap\x12\x09\n\x07\n\x01x\x12\x00\x1a\x00\x1a\x00\"\x00",
}

// pieces are inserted into the seeds.
var pieces = []string{
	"null", "{}", "[]", `""`, "0", "-1", "1e999", "99999999999999999999", "true", `"x"`, `"\u0000"`, "\xff", "{", "}", "[", "]", ",", ":", `"`, "\\", "\n", "\t",
	`"metadata":null,`, `"name":"x",`, `"uid":"1",`, `"resourceVersion":"7",`, `"$patch":"replace",`, `"$retainKeys":["a"],`, "&a *a", "*a", "!!binary x", "- ", "  ", strings.Repeat("[", 300), strings.Repeat(`{"a":`, 300),
}

// spoil changes a text in a few places.
func spoil(r *rand.Rand, s string) string {
	for range r.IntN(4) {
		at, end := r.IntN(len(s)+1), 0
		end = min(len(s), at+r.IntN(1+r.IntN(12)))
		s = s[:at] + pieces[r.IntN(len(pieces))] + s[end:]
	}
	return s
}

// TestBodiesOfAnyKind sends nearly valid bodies, in every media type, to every path that takes
// bodies. The server never panics, answers soon, and works afterwards.
func TestBodiesOfAnyKind(t *testing.T) {
	c := start(t, withCBOR)
	rt := server.Transport(c.server, &auth.User{Name: "anyone"})
	r := rand.New(rand.NewPCG(20, 26))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	types := []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "application/merge-patch+json", "application/strategic-merge-patch+json",
		"application/json-patch+json", "application/apply-patch+yaml", "application/apply-patch+cbor", "application/cbor", "", ";", "application/json; charset=\"", "*/*"}
	codes := map[int]int{}
	for i := range 6000 {
		if i%20 == 0 { // so that there is an object to change
			for n, path := range []string{"/api/v1/namespaces/default/pods", "/api/v1/namespaces/default/configmaps", "/apis/apps/v1/namespaces/default/deployments"} {
				c.do("POST "+path, seeds[n])
			}
		}
		kind := pick("/api/v1/namespaces/default/pods", "/api/v1/namespaces/default/configmaps", "/apis/apps/v1/namespaces/default/deployments")
		path := kind + pick("", "/x", "/x", "/x", "/x/status", "/x/scale", "/x/eviction", "/x/binding", "/x/ephemeralcontainers")
		path += pick("?", "?dryRun=All", "?fieldValidation=Strict", "?fieldValidation=Ignore", "?fieldManager=m", "?fieldManager=m&force=true", "?propagationPolicy=Orphan", "?gracePeriodSeconds=0")
		method := pick("POST", "POST", "PUT", "PATCH", "PATCH", "PATCH", "DELETE")
		body := spoil(r, seeds[r.IntN(len(seeds))])
		req, err := http.NewRequest(method, "http://memory"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		m := types[r.IntN(len(types))]
		if r.IntN(4) > 0 {
			m = pick(types[:2]...)
			if method == "PATCH" {
				m = pick(types[3:7]...)
			}
		}
		req.Header.Set("Content-Type", m)
		req.Header.Set("Accept", pick("application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "application/cbor", "application/json;as=Table;g=meta.k8s.io;v=v1,application/json", "text/html", "*/*;q=x"))
		began := time.Now()
		resp, err := rt.RoundTrip(req)
		if err != nil {
			t.Fatalf("%s %s %q: %v", method, path, body, err)
		}
		answer, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		codes[resp.StatusCode]++
		// kube-apiserver too answers 500 to some patches that cannot be merged.
		if resp.StatusCode > 500 || strings.Contains(string(answer), "panic") || resp.StatusCode == 500 && method != "PATCH" {
			t.Errorf("%s %s %s: %d for %q", method, path, m, resp.StatusCode, body)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s %s took %v for %q", method, path, took, body)
		}
	}
	if codes[200] < 50 || codes[422] < 20 || codes[400] < 500 {
		t.Errorf("too few of a sort: %v", codes)
	}
	for _, kind := range []string{"pods", "configmaps"} {
		c.must("GET /api/v1/namespaces/default/"+kind, "")
		c.must("GET /api/v1/namespaces/default/"+kind, "", "Accept: application/vnd.kubernetes.protobuf")
	}
}

// TestAnnouncedBodies checks that a connection that announces a thousand bodies of 3 MB and sends
// a byte of each takes memory for the bytes sent, not for those announced.
func TestAnnouncedBodies(t *testing.T) {
	c := start(t, asUsers)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r := c.raw(t)
	go io.Copy(io.Discard, r.conn)
	for i := range 1000 {
		id := uint32(2*i + 1)
		r.open(id, "POST", "/api/v1/namespaces/default/configmaps", false, "user", "mallory", "content-type", "application/json", "content-length", "3000000")
		r.must(r.WriteData(id, false, []byte("{")))
	}
	eventually(t, "bodies that are being read", func() bool {
		return c.metric(`apiserver_current_inflight_requests{request_kind="mutating"}`) >= 100
	})
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 32<<20 {
		t.Errorf("the heap has grown by %d MB", grown>>20)
	}
	c.must("POST /api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`, "User: jane")
}

// holding is a request of whose body all but the end has been sent.
type holding struct {
	finish func()
	answer chan *http.Response
}

// hold sends n bytes of a body that announces one more.
func (c *cluster) hold(t *testing.T, user string, n int) *holding {
	t.Helper()
	body := `{"metadata":{"generateName":"held-"},"data":{"a":"` + strings.Repeat("x", n)
	rest := `"}}`
	in, out := io.Pipe()
	req, err := http.NewRequest("POST", c.base+"/api/v1/namespaces/default/configmaps?dryRun=All", in)
	if err != nil {
		t.Fatal(err)
	}
	req.ContentLength = int64(len(body) + len(rest))
	req.Header.Set("User", user)
	req.Header.Set("Content-Type", "application/json")
	h := &holding{answer: make(chan *http.Response, 1)}
	go func() {
		defer close(h.answer)
		if resp, err := c.client.Do(req); err == nil {
			h.answer <- resp
		}
	}()
	go io.WriteString(out, body)
	h.finish = sync.OnceFunc(func() { io.WriteString(out, rest); out.Close() })
	t.Cleanup(func() { out.CloseWithError(io.ErrUnexpectedEOF) })
	return h
}

// TestBodiesTogether checks that the bodies of all requests are bounded together, and that a user
// may have half of the bound.
func TestBodiesTogether(t *testing.T) {
	c := start(t, asUsers, func(c *server.Config) { c.MaxBodyBytes = 2 << 20 })
	full := func(user string) answer {
		return c.do("POST /api/v1/namespaces/default/configmaps?dryRun=All", `{"metadata":{"name":"a"},"data":{"a":"`+strings.Repeat("x", 900<<10)+`"}}`, "User: "+user)
	}
	bytes := func() float64 { return c.metric("fairlead_request_body_bytes") }
	first := c.hold(t, "jane", 900<<10)
	eventually(t, "a body that is held", func() bool { return bytes() > 900<<10 })
	if a := full("jane"); a.code != 429 || a.header.Get("Retry-After") != "1" || a.body != "Too many requests, please try again later.\n" {
		t.Errorf("the second body of a user: %d %q %s", a.code, a.header.Get("Retry-After"), a.body)
	}
	second := c.hold(t, "john", 900<<10)
	eventually(t, "two bodies that are held", func() bool { return bytes() > 1800<<10 })
	for _, user := range []string{"jill", "root"} {
		if a := full(user); a.code != 429 {
			t.Errorf("a third body, of %s: %d %s", user, a.code, a.body)
		}
	}
	for _, h := range []*holding{first, second} {
		h.finish()
		if resp := <-h.answer; resp == nil || resp.StatusCode != 201 {
			t.Errorf("a body that was held: %v", resp)
		}
	}
	eventually(t, "no body", func() bool { return bytes() == 0 })
	if a := full("jane"); a.code != 201 {
		t.Errorf("a body when none is held: %d %s", a.code, a.body)
	}
}

// TestDrippingBodies checks that a body without an end is cut off.
func TestDrippingBodies(t *testing.T) {
	c := start(t, func(c *server.Config) { c.RequestTimeout = 200 * time.Millisecond })
	for name, client := range c.clients() {
		t.Run(name, func(t *testing.T) {
			in, out := io.Pipe()
			defer out.Close()
			go io.WriteString(out, "{")
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, "POST", c.base+"/api/v1/namespaces/default/configmaps", in)
			if err != nil {
				t.Fatal(err)
			}
			req.ContentLength = 1000
			req.Header.Set("Content-Type", "application/json")
			resp, err := client.Do(req)
			timedOut(t, resp, err)
		})
	}
}
