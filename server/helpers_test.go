package server_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"fmt"
	"time"

	"fairlead.dev/internal/resource/builtin"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/h2"
	"fairlead.dev/server"
	"fairlead.dev/storage/local"
)

// cluster is a server over a store in memory, reached through TLS and HTTP/2.
type cluster struct {
	t      testing.TB
	server *server.Server
	http   *httptest.Server
	client *http.Client
	// base is the server's URL.
	base string
	// stop ends the server before the test does.
	stop func()
}

func start(t testing.TB, change ...func(*server.Config)) *cluster {
	t.Helper()
	store, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	cfg := server.Config{Store: store, Resources: builtin.Resources()}
	for _, f := range change {
		f(&cfg)
	}
	s, err := server.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); s.Run(ctx) }()

	h := httptest.NewUnstartedServer(s)
	h.EnableHTTP2 = true
	if os.Getenv("NET_HTTP") == "" { // else net/http's own server, to compare
		h2.Install(h.Config, h2.Options{WriteTimeout: cfg.WriteTimeout})
	}
	h.TLS = &tls.Config{NextProtos: []string{"h2", "http/1.1"}}
	h.StartTLS()
	c := &cluster{t: t, server: s, http: h, client: h.Client(), base: h.URL}
	c.client.Transport.(*http.Transport).DisableCompression = true
	c.stop = sync.OnceFunc(func() {
		cancel()
		<-done
		h.CloseClientConnections()
		h.Close()
	})
	t.Cleanup(c.stop)
	return c
}

// config is client-go's configuration for the server.
func (c *cluster) config() *rest.Config {
	pool := x509.NewCertPool()
	pool.AddCert(c.http.Certificate())
	return &rest.Config{Host: c.http.URL, QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAData: certPEM(c.http.Certificate())}}
}

func (c *cluster) typed() *kubernetes.Clientset { return c.typedWith(c.config()) }

func (c *cluster) typedWith(config *rest.Config) *kubernetes.Clientset {
	c.t.Helper()
	k, err := kubernetes.NewForConfig(config)
	if err != nil {
		c.t.Fatal(err)
	}
	return k
}

// answer is the response to a request.
type answer struct {
	code   int
	header http.Header
	body   string
}

// do sends a request whose head is "METHOD path" or "METHOD path type".
func (c *cluster) do(head, body string, headers ...string) answer {
	c.t.Helper()
	parts := strings.Fields(head)
	req, err := http.NewRequest(parts[0], c.base+parts[1], strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if len(parts) > 2 {
		req.Header.Set("Content-Type", parts[2])
	}
	for _, h := range headers {
		k, v, _ := strings.Cut(h, ": ")
		req.Header.Set(k, v)
	}
	resp, err := c.client.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatalf("%s: %v", head, err)
	}
	return answer{resp.StatusCode, resp.Header, string(data)}
}

// must is do for requests that have to succeed.
func (c *cluster) must(head, body string, headers ...string) answer {
	c.t.Helper()
	a := c.do(head, body, headers...)
	if a.code/100 != 2 {
		c.t.Fatalf("%s: %d %s", head, a.code, a.body)
	}
	return a
}

// at reads a value out of a JSON answer: at("metadata.name").
func (a answer) at(path string) any {
	var v any
	d := json.NewDecoder(bytes.NewReader([]byte(a.body)))
	if err := d.Decode(&v); err != nil {
		return "not JSON: " + a.body
	}
	for _, step := range strings.Split(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[step]
	}
	return v
}

func (a answer) text(path string) string {
	s, _ := a.at(path).(string)
	return s
}

type (
	httpRequest = http.Request
	ctx         = context.Context
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
