package server_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/server"
)

// patience bounds a test's wait for an event that should happen soon.
const patience = time.Minute

// asUsers takes the user from the header User; "root" is of system:masters.
func asUsers(c *server.Config) {
	c.Authenticator = auth.Union(auth.InProcess(), auth.AuthenticatorFunc(func(r *http.Request) (*auth.User, bool, error) {
		u := &auth.User{Name: r.Header.Get("User")}
		if u.Name == "root" {
			u.Groups = []string{auth.MastersGroup}
		}
		return u, true, nil
	}))
}

// overHTTP1 is a client of the cluster that does not use HTTP/2.
func (c *cluster) overHTTP1() *http.Client {
	t := c.client.Transport.(*http.Transport).Clone()
	t.ForceAttemptHTTP2, t.TLSNextProto = false, map[string]func(string, *tls.Conn) http.RoundTripper{}
	t.TLSClientConfig.NextProtos = []string{"http/1.1"}
	c.t.Cleanup(t.CloseIdleConnections)
	return &http.Client{Transport: t}
}

// clients are those of each version of HTTP.
func (c *cluster) clients() map[string]*http.Client {
	return map[string]*http.Client{"HTTP/1.1": c.overHTTP1(), "HTTP/2": c.client}
}

// eventually waits until f holds.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not in %v", what, patience)
		}
	}
}

// metric is the value of a line of /metrics.
func (c *cluster) metric(line string) (v float64) {
	c.t.Helper()
	_, after, _ := strings.Cut(c.do("GET /metrics", "", "User: root").body, "\n"+line+" ")
	fmt.Sscan(after, &v)
	return v
}

// raw is a connection of HTTP/2 whose frames the test writes.
type raw struct {
	*http2.Framer
	t    *testing.T
	conn *tls.Conn
	head bytes.Buffer
	enc  *hpack.Encoder
}

func (c *cluster) raw(t *testing.T, settings ...http2.Setting) *raw {
	t.Helper()
	conn, err := tls.Dial("tcp", c.http.Listener.Addr().String(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetReadDeadline(time.Now().Add(patience))
	r := &raw{Framer: http2.NewFramer(conn, conn), t: t, conn: conn}
	r.enc = hpack.NewEncoder(&r.head)
	_, err = io.WriteString(conn, http2.ClientPreface)
	r.must(errors.Join(err, r.WriteSettings(settings...)))
	return r
}

func (r *raw) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// open opens a stream; pairs are more header fields.
func (r *raw) open(id uint32, method, path string, end bool, pairs ...string) {
	r.t.Helper()
	r.head.Reset()
	for i, all := 0, append([]string{":method", method, ":scheme", "https", ":authority", "x", ":path", path}, pairs...); i < len(all); i += 2 {
		r.enc.WriteField(hpack.HeaderField{Name: all[i], Value: all[i+1]})
	}
	r.must(r.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: r.head.Bytes(), EndHeaders: true, EndStream: end}))
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

// timedOut reports whether the response is kube-apiserver's to a request that took too long.
func timedOut(t *testing.T, resp *http.Response, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
		return
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	a := answer{resp.StatusCode, resp.Header, string(data)}
	if err != nil || a.code != 504 || a.at("reason") != "Timeout" || a.at("message") != "Timeout: request did not complete within the allotted timeout" ||
		a.header.Get("Audit-Id") == "" || a.header.Get("Content-Type") != "application/json" {
		t.Errorf("%d %v %s %v", a.code, a.header, a.body, err)
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

// TestDeadline checks that a request that takes too long is answered while its handler runs,
// whose context ends; that a response that has begun is cut off; and that a client that closes
// ends the work.
func TestDeadline(t *testing.T) {
	ended, release := make(chan error, 1), make(chan struct{})
	path := func(begin bool) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if begin {
				io.WriteString(w, "begun")
				http.NewResponseController(w).Flush()
			}
			<-r.Context().Done()
			ended <- r.Context().Err()
			<-release // like a handler that ignores its context
			w.Header().Set("Late", "yes")
			io.WriteString(w, "late")
		})
	}
	c := start(t, asUsers, func(c *server.Config) {
		c.RequestTimeout = 200 * time.Millisecond
		c.Paths = map[string]http.Handler{"/slow": path(false), "/slow/begun": path(true)}
	})
	for name, client := range c.clients() {
		t.Run(name, func(t *testing.T) {
			resp, err := client.Get(c.base + "/slow")
			timedOut(t, resp, err)
			<-ended
			release <- struct{}{}

			resp, err = client.Get(c.base + "/slow/begun")
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			<-ended
			release <- struct{}{}
			if data, err := io.ReadAll(resp.Body); err == nil {
				t.Errorf("an answer that came too late is whole: %s", data)
			}
		})
	}
	if n := c.metric(`apiserver_request_terminations_total{code="504",component="apiserver",group="",resource="",scope="cluster",subresource="",verb="GET",version=""}`); n != 2 {
		t.Errorf("%v requests are counted as terminated", n)
	}
}

// TestClientLeaves checks that the work for a client that has closed ends.
func TestClientLeaves(t *testing.T) {
	began, ended := make(chan struct{}), make(chan error)
	c := start(t, func(c *server.Config) {
		c.Paths = map[string]http.Handler{"/slow": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			began <- struct{}{}
			<-r.Context().Done()
			ended <- r.Context().Err()
		})}
	})
	for name, client := range c.clients() {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			req, err := http.NewRequestWithContext(ctx, "GET", c.base+"/slow", nil)
			if err != nil {
				t.Fatal(err)
			}
			go client.Do(req)
			<-began
			cancel()
			select {
			case <-ended:
			case <-time.After(patience):
				t.Error("the handler has not been told")
			}
		})
	}
}

// TestSlowList checks that a list that a client reads too slowly is cut off.
func TestSlowList(t *testing.T) {
	c := start(t, func(c *server.Config) { c.RequestTimeout = 300 * time.Millisecond })
	rt := server.Transport(c.server, &auth.User{Name: "filler"})
	for i := range 300 {
		code := http.StatusGatewayTimeout
		for code == http.StatusGatewayTimeout { // a stalled machine takes longer than the limit
			req, err := http.NewRequest("POST", "http://x/api/v1/namespaces/default/configmaps",
				strings.NewReader(fmt.Sprintf(`{"metadata":{"name":"c%d"},"data":{"a":%q}}`, i, strings.Repeat("x", 50<<10))))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			resp, err := rt.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			code = resp.StatusCode
		}
		if code != http.StatusCreated && code != http.StatusConflict {
			t.Fatal(code)
		}
	}
	const path = "/api/v1/namespaces/default/configmaps"
	cutOff := func(t *testing.T) {
		eventually(t, "the list's place is free", func() bool {
			return c.metric(`apiserver_current_inflight_requests{request_kind="readOnly"}`) <= 1
		})
	}
	t.Run("HTTP/2", func(t *testing.T) {
		r := c.raw(t, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1000})
		r.open(1, "GET", path, true)
		for {
			f, err := r.ReadFrame()
			r.must(err)
			if _, ok := f.(*http2.RSTStreamFrame); ok {
				return // the machine was slow before it was read
			}
			if f, ok := f.(*http2.DataFrame); ok && len(f.Data()) > 0 {
				break
			}
		}
		cutOff(t)
		r.must(r.WriteWindowUpdate(1, 1<<20))
		r.must(r.WriteWindowUpdate(0, 1<<20))
		for {
			f, err := r.ReadFrame()
			r.must(err)
			if _, ok := f.(*http2.RSTStreamFrame); ok {
				return
			}
			if f.Header().Flags.Has(http2.FlagDataEndStream) && f.Header().Type == http2.FrameData {
				t.Fatal("the list has ended well")
			}
		}
	})
	t.Run("HTTP/1.1", func(t *testing.T) {
		resp, err := c.overHTTP1().Get(c.base + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		cutOff(t)
		if data, err := io.ReadAll(resp.Body); err == nil && resp.StatusCode == 200 { // else the machine was slow before it began
			t.Errorf("all %d bytes of the list have come", len(data))
		}
	})
}

// TestInflight checks the limit of requests in flight: a user may have half of it, and watches,
// this process, administrators and probes are always admitted.
func TestInflight(t *testing.T) {
	began, release := make(chan struct{}), make(chan struct{})
	c := start(t, asUsers, func(c *server.Config) {
		c.MaxReads, c.MaxWrites = 4, 2
		c.Paths = map[string]http.Handler{"/block": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			began <- struct{}{}
			<-release
		})}
	})
	block := func(user string) {
		req, err := http.NewRequest("GET", c.base+"/block", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("User", user)
		go func() {
			if resp, err := c.client.Do(req); err == nil {
				resp.Body.Close()
			}
		}()
		<-began
	}
	defer close(release)
	read := func(user string) int { return c.do("GET /api/v1/namespaces", "", "User: "+user).code }
	block("jane")
	block("jane")
	if a := c.do("GET /api/v1/namespaces", "", "User: jane"); a.code != 429 || a.header.Get("Retry-After") != "1" {
		t.Errorf("a third request of a user: %d %q", a.code, a.header.Get("Retry-After"))
	}
	if code := read("john"); code != 200 {
		t.Errorf("a request of another: %d", code)
	}
	block("john")
	block("john")
	if code := read("jill"); code != 429 {
		t.Errorf("a fifth request: %d", code)
	}
	if a := c.do("POST /api/v1/namespaces", `{"metadata":{"name":"a"}}`, "User: jane"); a.code != 201 {
		t.Errorf("a write: %d", a.code)
	}
	if code := read("root"); code != 200 {
		t.Errorf("a request of an administrator: %d", code)
	}
	if code := c.do("GET /readyz", "", "User: jane").code; code != 200 {
		t.Errorf("a probe: %d", code)
	}
	if a := c.do("GET /api/v1/namespaces?watch=1&timeoutSeconds=1", "", "User: jane"); a.code != 200 {
		t.Errorf("a watch: %d", a.code)
	}
	req, err := http.NewRequest("GET", "http://x/api/v1/namespaces", nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := server.Transport(c.server, &auth.User{Name: "jane"}).RoundTrip(req); err != nil || resp.StatusCode != 200 {
		t.Errorf("a request of this process: %v %v", resp, err)
	}
	if n := c.metric(`apiserver_current_inflight_requests{request_kind="readOnly"}`); n != 5 {
		t.Errorf("%v requests are counted", n)
	}
	for range 4 {
		release <- struct{}{}
	}
	eventually(t, "a place", func() bool { return read("jill") == 200 })
}

// cpu is the processor time that f takes of this process.
func cpu(f func()) time.Duration {
	used := func() time.Duration {
		var u syscall.Rusage
		syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	began := used()
	f()
	return used() - began
}

// TestWorkIsLinear checks that eight times as many owners, finalizers or keys take no more than
// some eight times as long, in any form.
func TestWorkIsLinear(t *testing.T) {
	c := start(t)
	const path = "/api/v1/namespaces/default/configmaps"
	for name, x := range map[string]struct {
		item func(i int) string
		of   string
	}{
		"owners": {func(i int) string {
			return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","name":"p","uid":"%d"}`, i*7919%1000003)
		}, `"metadata":{"name":"%[1]s","ownerReferences":[%[2]s]}`},
		"finalizers": {func(i int) string { return fmt.Sprintf(`"a.io/%d"`, i*7919%1000003) }, `"metadata":{"name":"%[1]s","finalizers":[%[2]s]}`},
		"labels":     {func(i int) string { return fmt.Sprintf(`"l%d":"x"`, i*7919%1000003) }, `"metadata":{"name":"%[1]s","labels":{%[2]s}}`},
		"keys":       {func(i int) string { return fmt.Sprintf(`"k%d":"x"`, i*7919%1000003) }, `"metadata":{"name":"%[1]s"},"data":{%[2]s}`},
	} {
		text := func(as string, n int) string {
			list := make([]string, n)
			for i := range list {
				list[i] = x.item(i)
			}
			return `{"apiVersion":"v1","kind":"ConfigMap",` + fmt.Sprintf(x.of, as, strings.Join(list, ",")) + `}`
		}
		for verb, do := range map[string]func(as string, n int){
			"create":  func(as string, n int) { c.must("POST "+path+"?dryRun=All", text("dry", n)) },
			"replace": func(as string, n int) { c.must("PUT "+path+"/"+as, text(as, n+1)) },
			"merge":   func(as string, n int) { c.must("PATCH "+path+"/"+as+" application/merge-patch+json", text(as, n+2)) },
			"apply": func(as string, n int) {
				c.must("PATCH "+path+"/"+as+"?fieldManager=test&force=true application/apply-patch+yaml", text(as, n))
				c.must("PATCH "+path+"/"+as+"?fieldManager=test&force=true application/apply-patch+yaml", text(as, n-1))
			},
		} {
			t.Run(name+"/"+verb, func(t *testing.T) {
				took := func(n int) time.Duration {
					as := fmt.Sprintf("%s-%s-%d", name, verb, n)
					c.must("POST "+path, text(as, n))
					return cpu(func() { do(as, n) })
				}
				took(100)
				few, many := took(1500), took(12000)
				t.Logf("1500: %v, 12000: %v", few, many)
				if many > 24*few+200*time.Millisecond {
					t.Errorf("1500 took %v, 12000 took %v", few, many)
				}
			})
		}
	}
}

// TestLongNumbers checks that a quantity that would take seconds to parse is refused in every
// form, and that a text of digits in a field of another type is not.
func TestLongNumbers(t *testing.T) {
	c := start(t, withCBOR)
	digits := strings.Repeat("9", 1_000_000)
	const quotas = "/api/v1/namespaces/default/resourcequotas"
	json := func(n string) string { return `{"metadata":{"name":"q"},"spec":{"hard":{"cpu":"` + n + `"}}}` }
	c.must("POST "+quotas, json("1"))
	took := cpu(func() {
		for head, body := range map[string]string{
			"POST " + quotas:                                                       json(digits),
			"POST " + quotas + " application/yaml":                                 "metadata: {name: q}\nspec: {hard: {cpu: '" + digits + "'}}",
			"PUT " + quotas + "/q":                                                 json(digits),
			"PATCH " + quotas + "/q application/merge-patch+json":                  json(digits),
			"PATCH " + quotas + "/q application/strategic-merge-patch+json":        json(digits),
			"PATCH " + quotas + "/q application/json-patch+json":                   `[{"op":"replace","path":"/spec/hard/cpu","value":"` + digits + `"}]`,
			"PATCH " + quotas + "/q?fieldManager=x application/apply-patch+yaml":   `{"apiVersion":"v1","kind":"ResourceQuota",` + json(digits)[1:],
			"PATCH " + quotas + "/new?fieldManager=x application/apply-patch+yaml": `{"apiVersion":"v1","kind":"ResourceQuota",` + strings.Replace(json(digits), `"q"`, `"new"`, 1)[1:],
		} {
			if a := c.do(head, body); a.code != 400 && a.code != 422 || !strings.Contains(a.body, "a number in it has more than 20000 digits") {
				t.Errorf("%s: %d %.300s", head, a.code, a.body)
			}
		}
	})
	if took > 30*time.Second { // parsing a million digits takes 10 s, and more with the race detector
		t.Errorf("the refusals took %v of the processor", took)
	}
	c.must("POST /api/v1/namespaces/default/configmaps", `{"metadata":{"name":"d"},"data":{"a":"`+digits+`"}}`)
}

// TestLongTokens checks that a continue token longer than any of the server's is refused
// before it is decoded.
func TestLongTokens(t *testing.T) {
	c := start(t)
	if a := c.do("GET /api/v1/namespaces?limit=1&continue="+strings.Repeat("A", 500<<10), ""); a.code != 400 || !strings.Contains(a.body, "it has more than 65536 bytes") {
		t.Errorf("%d %s", a.code, a.body)
	}
}

// TestWatchWithoutTime checks that a watch with a negative timeout ends as it begins.
func TestWatchWithoutTime(t *testing.T) {
	c := start(t)
	for name, client := range c.clients() {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, "GET", c.base+"/api/v1/namespaces?watch=1&timeoutSeconds=-1", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if data, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != 200 {
			t.Errorf("%s: %d %s %v", name, resp.StatusCode, data, err)
		}
		resp.Body.Close()
	}
}
