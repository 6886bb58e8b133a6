package server_test

import (
	"net/http"
	"testing"

	"fairlead.dev/internal/server/admission"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/server"
)

func TestTooManyRequests(t *testing.T) {
	enter, leave := make(chan struct{}), make(chan struct{})
	c := start(t, func(cfg *server.Config) {
		cfg.MaxWrites = 1
		cfg.Admission = admission.Chain{plugin(func(*admission.Request) error { enter <- struct{}{}; <-leave; return nil })}
	})
	done := make(chan answer)
	go func() { done <- c.do("POST "+maps, mapA) }()
	<-enter
	a := c.do("POST "+maps, mapA)
	if a.code != 429 || a.header.Get("Retry-After") != "1" || a.body != "Too many requests, please try again later.\n" {
		t.Errorf("%d %s", a.code, a.body)
	}
	c.must("GET "+maps, "") // reads are limited separately
	close(leave)
	if a := <-done; a.code != 201 {
		t.Errorf("%d %s", a.code, a.body)
	}
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
