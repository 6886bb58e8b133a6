package etcd_test

import (
	"net/url"
	"testing"

	"fairlead.dev/storage/etcd"

	"go.etcd.io/etcd/server/v3/embed"
)

// startMember starts a cluster of one in this process, and returns its URL. Its data is in memory:
// the tests are about the client.
func startMember(t testing.TB) string {
	t.Helper()
	any := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	c := embed.NewConfig()
	c.Dir = t.TempDir()
	c.LogLevel = "fatal"
	c.UnsafeNoFsync = true
	c.TickMs, c.ElectionMs = 10, 100
	c.ListenClientUrls, c.ListenPeerUrls = []url.URL{any}, []url.URL{any}
	e, err := embed.StartEtcd(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	<-e.Server.ReadyNotify()
	return "http://" + e.Clients[0].Addr().String()
}

// open opens a store that is closed with the test. There is no other member to ask, so its requests
// have as much time as the tests.
func open(t testing.TB, url string, o etcd.Options) *etcd.Store {
	t.Helper()
	o.Endpoints, o.Timeout = []string{url}, patience
	s, err := etcd.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
