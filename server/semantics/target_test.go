package semantics_test

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"fairlead.dev/resource/builtin"
	"fairlead.dev/server"
	"fairlead.dev/storage"
	"fairlead.dev/storage/local"
	"fairlead.dev/watchcache"
)

// target is the server that the transcripts are run against.
type target struct {
	base, token string
	ours        bool
	// two and one speak HTTP/2 and HTTP/1.1.
	two, one *http.Client
	compact  func(t *testing.T, rev int64)
}

func clients() (two, one *http.Client) {
	insecure := &tls.Config{InsecureSkipVerify: true} // the certificate is not what is tested
	two = &http.Client{Transport: &http.Transport{TLSClientConfig: insecure, ForceAttemptHTTP2: true, DisableCompression: true}}
	only1 := insecure.Clone()
	only1.NextProtos = []string{"http/1.1"}
	one = &http.Client{Transport: &http.Transport{TLSClientConfig: only1, DisableCompression: true}}
	return two, one
}

// newTarget is the server named by the environment, or a new one of ours.
func newTarget(t *testing.T) *target {
	t.Helper()
	if base := os.Getenv("SEMANTICS_SERVER"); base != "" {
		g := &target{base: base, token: os.Getenv("SEMANTICS_TOKEN")}
		g.two, g.one = clients()
		g.compact = compactEtcd
		return g
	}
	store, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	return ourTarget(t, store)
}

func ourTarget(t *testing.T, store storage.Store) *target {
	t.Helper()
	g := &target{ours: true}
	s, err := server.New(server.Config{
		Store: store, Resources: builtin.Resources(),
		// The cache keeps little, so that a compaction is felt.
		History: watchcache.HubOptions{HistoryBytes: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); s.Run(ctx) }()
	h := httptest.NewUnstartedServer(s)
	h.EnableHTTP2 = true
	h.StartTLS()
	t.Cleanup(func() {
		cancel()
		<-done
		h.CloseClientConnections()
		h.Close()
		store.Close()
	})
	g.base = h.URL
	g.two, g.one = clients()
	g.compact = func(t *testing.T, rev int64) {
		if err := store.Compact(context.Background(), storage.Revision(rev)); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// compactEtcd compacts the etcd under a foreign server, and waits until that
// has noticed, which it does within its own time.
func compactEtcd(t *testing.T, rev int64) {
	url := os.Getenv("SEMANTICS_ETCD")
	if url == "" {
		t.Skip("SEMANTICS_ETCD is not set")
	}
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{url}, DialTimeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Compact(context.Background(), rev); err != nil {
		t.Fatal(err)
	}
}
