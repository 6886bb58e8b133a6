package semantics_test

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"testing"
	"time"

	"fairlead.dev/internal/resource/builtin"
	"fairlead.dev/internal/server/h2"
	"fairlead.dev/server"
	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
)

// target is the server that the transcripts run against.
type target struct {
	base, token string
	ours        bool
	// two and one use HTTP/2 and HTTP/1.1.
	two, one *http.Client
	// store belongs to a server of ours, which sees no events of it while silence is on.
	store   storage.Store
	silence silence
}

func clients() (two, one *http.Client) {
	insecure := &tls.Config{InsecureSkipVerify: true} // certificates are not under test
	two = &http.Client{Transport: &http.Transport{TLSClientConfig: insecure, ForceAttemptHTTP2: true, DisableCompression: true}}
	only1 := insecure.Clone()
	only1.NextProtos = []string{"http/1.1"}
	one = &http.Client{Transport: &http.Transport{TLSClientConfig: only1, DisableCompression: true}}
	return two, one
}

// newTarget returns the server given by the environment, or a new one of ours.
func newTarget(t *testing.T) *target {
	t.Helper()
	g := &target{base: os.Getenv("SEMANTICS_SERVER"), token: os.Getenv("SEMANTICS_TOKEN")}
	g.two, g.one = clients()
	if g.base != "" {
		if etcdLink() != nil {
			g.awaitReady(t)
		}
		return g
	}
	store, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	g.ours, g.store = true, store
	g.base = serve(t, hushed{store, &g.silence})
	return g
}

// serve starts a server of ours on the store.
func serve(t *testing.T, store storage.Store) (base string) {
	t.Helper()
	s, err := server.New(server.Config{Store: store, Resources: builtin.Resources()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); s.Run(ctx) }()
	h := httptest.NewUnstartedServer(s)
	h.EnableHTTP2 = true
	h2.Install(h.Config, h2.Options{})
	h.StartTLS()
	t.Cleanup(func() {
		cancel()
		<-done
		h.CloseClientConnections()
		h.Close()
	})
	return h.URL
}

// compact compacts the history before a revision. Our server is replaced by another one on the same store, which
// has no older events; for a foreign server the test waits until it has compacted by itself.
func (g *target) compact(r *run, rev int64) {
	if g.ours {
		if err := g.store.Compact(context.Background(), storage.Revision(rev)); err != nil {
			r.t.Fatal(err)
		}
		g.base = serve(r.t, g.store)
		return
	}
	if os.Getenv("SEMANTICS_COMPACTS") == "" {
		r.t.Skip("SEMANTICS_COMPACTS is not set")
	}
	old := r.expand("$cm") + "?resourceVersionMatch=Exact&resourceVersion=" + strconv.FormatInt(rev-1, 10)
	for range 3000 {
		resp := r.request("GET", old, nil, "", g.two)
		resp.Body.Close()
		if resp.StatusCode == http.StatusGone {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	r.t.Fatal("the server does not compact its history")
}
