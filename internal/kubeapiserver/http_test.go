package kubeapiserver_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"fairlead.dev/internal/etcdstandin"
	"fairlead.dev/internal/kubeapiserver"
)

// browser is a client of HTTP/2 or, without h2, HTTP/1.1, that accepts any certificate.
func browser(t *testing.T, h2 bool) *http.Client {
	t.Helper()
	tr := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: h2}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// send sends a request as root, and returns its response, whose body is read.
func send(t *testing.T, c *http.Client, method, url string, body io.Reader, header http.Header) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	for key, values := range header {
		req.Header[key] = values
	}
	if req.Header.Get("Authorization") == "" {
		req.Header.Set("Authorization", "Bearer root-token")
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

// TestCORSAndHSTS sends requests as a browser does for pages of allowed and of other origins.
func TestCORSAndHSTS(t *testing.T) {
	base := host(start(t, `--cors-allowed-origins=//allowed\.example(:|$)`, "--strict-transport-security-directives=max-age=31536000,includeSubDomains")("root-token"))
	c := browser(t, true)
	preflight := http.Header{"Origin": {"https://allowed.example:8443"}, "Access-Control-Request-Method": {"PUT"}, "Authorization": {"none"}}
	resp, _ := send(t, c, http.MethodOptions, base+"/api/v1/namespaces", nil, preflight)
	if resp.StatusCode != http.StatusNoContent || resp.Header.Get("Access-Control-Allow-Origin") != "https://allowed.example:8443" ||
		resp.Header.Get("Access-Control-Allow-Credentials") != "true" || !strings.Contains(resp.Header.Get("Access-Control-Allow-Methods"), "PUT") {
		t.Errorf("a preflight request: %d %v", resp.StatusCode, resp.Header)
	}
	resp, _ = send(t, c, http.MethodGet, base+"/api/v1/namespaces", nil, http.Header{"Origin": {"https://allowed.example"}})
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Access-Control-Allow-Origin") != "https://allowed.example" {
		t.Errorf("a read: %d %v", resp.StatusCode, resp.Header)
	}
	if got := resp.Header.Get("Strict-Transport-Security"); got != "max-age=31536000; includeSubDomains" {
		t.Errorf("Strict-Transport-Security is %q", got)
	}
	resp, _ = send(t, c, http.MethodGet, base+"/api/v1/namespaces", nil, http.Header{"Origin": {"https://allowed.example.org"}})
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a read by another origin: %d %v", resp.StatusCode, resp.Header)
	}
	for _, c := range []struct{ flag, want string }{
		{"--cors-allowed-origins=allowed", "--cors-allowed-origins has an invalid regular expression: regular expression does not pin to start/end of host in the origin header"},
		{"--cors-allowed-origins=//(", "--cors-allowed-origins has an invalid regular expression: error parsing regexp"},
		{"--strict-transport-security-directives=min-age=1", "--strict-transport-security-directives invalid, allowed values: max-age=expireTime, includeSubDomains, preload."},
		{"--goaway-chance=0.5", "--goaway-chance can not be less than 0 or greater than 0.02"},
		{"--min-request-timeout=-1", "--min-request-timeout can not be negative value"},
		{"--shutdown-delay-duration=-1s", "--shutdown-delay-duration can not be negative value"},
		{"--shutdown-watch-termination-grace-period=-1s", "shutdown-watch-termination-grace-period, if provided, can not be a negative value"},
	} {
		if got := startFails(t, c.flag); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.flag, got)
		}
	}
}

// TestGoaway sends requests over HTTP/2 until one gets a new connection.
func TestGoaway(t *testing.T) {
	base := host(start(t, "--goaway-chance=0.02")("root-token"))
	c := browser(t, true)
	for n, fresh := 0, 0; fresh < 2; n++ {
		if t.Context().Err() != nil || n > 10_000 { // the chance of so many requests on one connection is 1e-88
			t.Fatalf("%d requests on one connection", n)
		}
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) {
			if !i.Reused {
				fresh++
			}
		}})
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/version", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if resp.ProtoMajor != 2 {
			t.Fatal("the answer is in " + resp.Proto)
		}
	}
}

// TestDisableHTTP2: a client that prefers HTTP/2 gets HTTP/1.1.
func TestDisableHTTP2(t *testing.T) {
	for flag, want := range map[string]int{"--disable-http2-serving": 1, "--disable-http2-serving=false": 2} {
		resp, _ := send(t, browser(t, true), http.MethodGet, host(start(t, flag)("root-token"))+"/version", nil, nil)
		if resp.ProtoMajor != want || resp.StatusCode != http.StatusOK {
			t.Errorf("%s: %d by %s", flag, resp.StatusCode, resp.Proto)
		}
	}
}

// TestMinRequestTimeout: a watch without timeoutSeconds ends after the time of the flag.
func TestMinRequestTimeout(t *testing.T) {
	base := host(start(t, "--min-request-timeout=1")("root-token"))
	began := time.Now()
	send(t, browser(t, true), http.MethodGet, base+"/api/v1/namespaces?watch=true", nil, nil) // returns when the watch has ended
	if took := time.Since(began); took < time.Second {
		t.Errorf("the watch ended after %v", took)
	}
}

// running is a server that can be told to stop.
type running struct {
	base  string
	stop  context.CancelFunc
	ended chan error
}

// run starts a server; the test stops it.
func run(t *testing.T, args ...string) running {
	t.Helper()
	etcd := httptest.NewServer(etcdstandin.Handler(etcdstandin.Store{DataDir: t.TempDir(), NoFsync: true}))
	t.Cleanup(etcd.Close)
	tokens := writeFile(t, t.TempDir(), "tokens.csv", "root-token,root,1,system:masters\n")
	port := freePort(t)
	cmd := kubeapiserver.Command()
	cmd.SetArgs(append([]string{"--etcd-servers=" + etcd.URL, "--bind-address=127.0.0.1", "--secure-port=" + port, "--token-auth-file=" + tokens}, args...))
	ctx, stop := context.WithCancel(context.Background())
	r := running{base: "https://127.0.0.1:" + port, stop: stop, ended: make(chan error, 1)}
	go func() { r.ended <- cmd.ExecuteContext(ctx) }()
	t.Cleanup(stop)
	c := kubernetes.NewForConfigOrDie(&rest.Config{Host: r.base, BearerToken: "root-token", QPS: -1, TLSClientConfig: rest.TLSClientConfig{Insecure: true}})
	eventually(t, "the server", func() bool {
		return c.Discovery().RESTClient().Get().AbsPath("/readyz").Do(t.Context()).Error() == nil
	})
	return r
}

// TestShutdownDelay: until the delay is over, /readyz fails and other requests are answered; then the port is closed.
func TestShutdownDelay(t *testing.T) {
	for delay := 2 * time.Second; ; delay *= 4 { // a machine may stall for longer than the first delays
		r := run(t, "--shutdown-delay-duration="+delay.String())
		c := browser(t, false)
		watch, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.base+"/api/v1/namespaces?watch=true", nil)
		if err != nil {
			t.Fatal(err)
		}
		watch.Header.Set("Authorization", "Bearer root-token")
		stream, err := browser(t, true).Do(watch)
		if err != nil {
			t.Fatal(err)
		}
		defer stream.Body.Close()
		began := time.Now()
		r.stop()
		answers := map[string]int{}
		for answers["/readyz"] != http.StatusInternalServerError && time.Since(began) < delay/2 {
			for _, path := range []string{"/readyz", "/readyz/shutdown", "/livez", "/healthz", "/api/v1/namespaces/default"} {
				if time.Since(began) < delay/2 {
					resp, _ := send(t, c, http.MethodGet, r.base+path, nil, nil)
					answers[path] = resp.StatusCode
				}
			}
		}
		if time.Since(began) >= delay/2 && delay < time.Minute {
			<-r.ended
			continue
		}
		if got, want := fmt.Sprint(answers), fmt.Sprint(map[string]int{"/readyz": 500, "/readyz/shutdown": 500, "/livez": 200, "/healthz": 200, "/api/v1/namespaces/default": 200}); got != want {
			t.Errorf("the answers during the delay are %s, want %s", got, want)
		}
		if err := <-r.ended; err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took < delay {
			t.Errorf("the server ended after %v", took)
		}
		if _, err := io.Copy(io.Discard, stream.Body); err != nil {
			t.Errorf("the watch: %v", err)
		}
		if _, err := c.Get(r.base + "/livez"); err == nil {
			t.Error("the port is still open")
		}
		return
	}
}

// TestShutdownSendRetryAfter: a request in progress ends well, and new ones are told to come again.
func TestShutdownSendRetryAfter(t *testing.T) {
	r := run(t, "--shutdown-send-retry-after")
	body, rest := io.Pipe()
	created := make(chan string, 1)
	go func() {
		resp, text := send(t, browser(t, false), http.MethodPost, r.base+"/api/v1/namespaces/default/configmaps", body, http.Header{"Content-Type": {"application/json"}})
		created <- fmt.Sprint(resp.StatusCode, " ", text)
	}()
	if _, err := io.WriteString(rest, `{"apiVersion":"v1","kind":"ConfigMap",`); err != nil { // it is sent when the server has begun to read
		t.Fatal(err)
	}
	c := browser(t, false)
	eventually(t, "the request in progress", func() bool {
		_, text := send(t, c, http.MethodGet, r.base+"/metrics", nil, nil)
		return strings.Contains(text, `apiserver_current_inflight_requests{request_kind="mutating"} 1`)
	})
	r.stop()
	eventually(t, "the refusal", func() bool {
		resp, text := send(t, c, http.MethodGet, r.base+"/api/v1/namespaces", nil, nil)
		refused := resp.StatusCode == http.StatusTooManyRequests
		if refused && (resp.Header.Get("Retry-After") != "5" || !resp.Close || text != "The apiserver is shutting down, please try again later.\n") {
			t.Errorf("the refusal has %v: %s", resp.Header, text)
		}
		return refused
	})
	if resp, _ := send(t, c, http.MethodGet, r.base+"/livez", nil, nil); resp.StatusCode != http.StatusOK {
		t.Errorf("/livez is %d", resp.StatusCode)
	}
	if _, err := io.WriteString(rest, `"metadata":{"name":"late"}}`); err != nil {
		t.Fatal(err)
	}
	rest.Close()
	if got := <-created; !strings.HasPrefix(got, "201 ") {
		t.Errorf("the request in progress: %s", got)
	}
	if err := <-r.ended; err != nil {
		t.Error(err)
	}
}

// TestMaxStreams reads the first frame of a connection over HTTP/2, which has the limit.
func TestMaxStreams(t *testing.T) {
	at := strings.TrimPrefix(host(start(t, "--http2-max-streams-per-connection=7")("root-token")), "https://")
	conn, err := tls.Dial("tcp", at, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	framer := http2.NewFramer(conn, conn)
	if err := framer.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	frame, err := framer.ReadFrame()
	if err != nil {
		t.Fatal(err)
	}
	settings, ok := frame.(*http2.SettingsFrame)
	if !ok {
		t.Fatalf("the first frame is a %T", frame)
	}
	if n, ok := settings.Value(http2.SettingMaxConcurrentStreams); !ok || n != 7 {
		t.Errorf("the limit is %d, %t", n, ok)
	}
}
