package server_test

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"fairlead.dev/internal/purego"
	"fairlead.dev/internal/server/admission"
	"fairlead.dev/server"
)

func TestTimeoutParameter(t *testing.T) {
	c := start(t, func(cfg *server.Config) {
		cfg.Admission = admission.Chain{waits{}}
	})
	c.talk([]exchange{
		{send: "GET " + maps + "?timeout=x", code: 400, want: []string{`invalid timeout specified in the request URL`}},
		{send: "POST " + maps + "?timeout=50ms", body: mapA, code: 504, want: []string{`"reason":"Timeout"`}},
	})
}

// TestTimeoutOfProxied: the timeout of a proxied request is a parameter of the server behind this one.
func TestTimeoutOfProxied(t *testing.T) {
	start(t).talk([]exchange{
		{send: "GET /api/v1/nodes/none/proxy/stats?timeout=x", code: 404, want: []string{`nodes \"none\" not found`}},
	})
}

// waits is an admission plugin that waits until the request's time is up.
type waits struct{}

func (waits) Name() string { return "Waits" }

func (waits) Admit(ctx context.Context, _ *admission.Request) error {
	<-ctx.Done()
	return ctx.Err()
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
	stalled := 0.0
	for name, client := range c.clients() {
		t.Run(name, func(t *testing.T) {
			resp, err := client.Get(c.base + "/slow")
			<-ended
			if purego.Enabled && name == "HTTP/2" { // net/http ends a stream when its handler returns
				release <- struct{}{}
				timedOut(t, resp, err)
			} else {
				timedOut(t, resp, err)
				release <- struct{}{}
			}

			for {
				resp, err = client.Get(c.base + "/slow/begun")
				if err != nil {
					t.Fatal(err)
				}
				<-ended
				release <- struct{}{}
				data, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if resp.StatusCode == http.StatusGatewayTimeout { // the machine stalled: the handler did not begin in time
					stalled++
					continue
				}
				if err == nil {
					t.Errorf("an answer that came too late is whole: %s", data)
				}
				break
			}
		})
	}
	if n := c.metric(`apiserver_request_terminations_total{code="504",component="apiserver",group="",resource="",scope="cluster",subresource="",verb="GET",version=""}`); n != 2+stalled {
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

func TestNegativeRequestTimeout(t *testing.T) {
	_, err := server.New(server.Config{RequestTimeout: -1})
	if err == nil || err.Error() != "Config.RequestTimeout is -1ns: want 0 (for a minute) or more" {
		t.Errorf("server.New with a negative RequestTimeout: %v", err)
	}
}
