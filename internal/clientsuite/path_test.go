package clientsuite

import (
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd/api"

	"fairlead.dev/client"
)

// tunnels is an HTTP proxy that makes tunnels, and knows every name of example.com as the
// server's.
type tunnels struct {
	*httptest.Server
	mu   sync.Mutex
	made map[string]int // by client and path
}

func newTunnels() *tunnels {
	p := &tunnels{made: map[string]int{}}
	p.Server = httptest.NewServer(p)
	return p
}

// fromEnvironment is the proxy that HTTPS_PROXY names; TestMain sets it before the
// first request, since net/http looks at it but once. No loopback address goes through it.
var fromEnvironment *tunnels

func (p *tunnels) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect {
		http.Error(w, "tunnels only", http.StatusMethodNotAllowed)
		return
	}
	who, _, _ := (&http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}).BasicAuth()
	p.mu.Lock()
	p.made[who+" "+r.Host]++
	p.mu.Unlock()
	u, err := url.Parse(target.config.Host)
	if err == nil {
		var server net.Conn
		if server, err = net.Dial("tcp", u.Host); err == nil {
			join(w, server)
			return
		}
	}
	http.Error(w, err.Error(), http.StatusBadGateway)
}

func join(w http.ResponseWriter, server net.Conn) {
	defer server.Close()
	client, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer client.Close()
	if _, err := io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	go func() {
		io.Copy(server, client)
		server.Close()
	}()
	io.Copy(client, server)
}

func (p *tunnels) were() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.made))
}

// TestThroughAProxy: a proxy that the kubeconfig names, and one that the environment does,
// carry requests and watches.
func TestThroughAProxy(t *testing.T) {
	u, err := url.Parse(target.config.Host)
	if err != nil {
		t.Fatal(err)
	}
	named := newTunnels()
	defer named.Close()
	proxy, err := url.Parse(named.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy.User = url.UserPassword("crab", "secret")
	cluster := trusted()
	cluster.Server, cluster.TLSServerName, cluster.ProxyURL = "https://named.example.com:6443", u.Hostname(), proxy.String()
	byKubeconfig := load(t, &cluster, &api.AuthInfo{})
	byEnvironment := rest.CopyConfig(target.config)
	byEnvironment.Host, byEnvironment.ServerName = "https://environment.example.com:6443", u.Hostname()
	t.Cleanup(func() { fromEnvironment.CloseClientConnections() })

	for what, x := range map[string]struct {
		config  *rest.Config
		by      *tunnels
		tunnels string
	}{
		"of the kubeconfig":  {byKubeconfig, named, "crab named.example.com:6443"},
		"of the environment": {byEnvironment, fromEnvironment, " environment.example.com:6443"},
	} {
		t.Run(what, func(t *testing.T) {
			ns := newNamespace(t)
			x.config.BearerToken = target.config.BearerToken
			x.config.CertData, x.config.KeyData = target.config.CertData, target.config.KeyData
			x.config.CertFile, x.config.KeyFile = target.config.CertFile, target.config.KeyFile
			maps := client.For[*corev1.ConfigMap](connect(t, x.config, client.Options{})).Namespace(ns)
			l, err := maps.List(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			w, err := maps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: l.ResourceVersion})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Stop()
			if _, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m"}}); err != nil {
				t.Fatal(err)
			}
			if e, err := w.Next(t.Context()); err != nil || e.Object.Name != "m" {
				t.Errorf("%v %v", e, err)
			}
			if made := x.by.were(); !slices.Equal(made, []string{x.tunnels}) {
				t.Errorf("tunnels %q, want %q", made, x.tunnels)
			}
		})
	}
}

// useProxy makes the environment name a proxy.
func useProxy() (end func()) {
	fromEnvironment = newTunnels()
	os.Setenv("HTTPS_PROXY", fromEnvironment.URL)
	return fromEnvironment.Close
}

// TestPings: HTTP/2 pings detect a connection that dies silently, even for a client without
// a time limit, and the next request has a new connection.
func TestPings(t *testing.T) {
	ns := newNamespace(t)
	net, config := network(t)
	var protocols sync.Map
	config.Wrap(func(rt http.RoundTripper) http.RoundTripper {
		return round(func(r *http.Request) (*http.Response, error) {
			res, err := rt.RoundTrip(r)
			if err == nil {
				protocols.Store(res.Proto, true)
			}
			return res, err
		})
	})
	maps := client.For[*corev1.ConfigMap](connect(t, config, client.Options{Silence: -1})).Namespace(ns)
	w, err := maps.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	net.Freeze()
	_, err = w.Next(t.Context())
	if err == nil || err == io.EOF || t.Context().Err() != nil {
		t.Errorf("the watch ended with %v, want a lost connection", err)
	}
	if _, err := maps.List(t.Context()); err != nil {
		t.Error(err)
	}
	protocols.Range(func(proto, _ any) bool {
		if proto != "HTTP/2.0" {
			t.Errorf("spoken was %v", proto)
		}
		return true
	})
}

type round func(*http.Request) (*http.Response, error)

func (f round) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
