package etcd_test

import (
	"net"
	"testing"

	"fairlead.dev/storage"
	"fairlead.dev/storage/etcd"
	"fairlead.dev/storage/etcdserver"
	"fairlead.dev/storage/local"
	"fairlead.dev/storage/storagetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	storagetest.RunRemote(t, func(t testing.TB) storage.Store {
		return open(t, startMember(t), etcd.Options{})
	})
}

func TestModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		var url string
		storagetest.Model(t, storagetest.Game{
			Seed: seed, Steps: 500, Remote: true,
			Open: func(t testing.TB) storage.Store {
				url = startMember(t)
				return open(t, url, etcd.Options{})
			},
			Restart: func(t testing.TB, s storage.Store) storage.Store {
				s.Close()
				return open(t, url, etcd.Options{})
			},
		})
	}
}

// TestConformanceOnOurs runs the suite against this project's own etcd, over the embedded store,
// through etcd's protocol in both directions.
func TestConformanceOnOurs(t *testing.T) {
	t.Parallel()
	storagetest.RunRemote(t, func(t testing.TB) storage.Store {
		below, err := local.Open("", local.Options{InMemory: true})
		if err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		server := etcdserver.New(etcdserver.Config{Store: below})
		done := make(chan error, 1)
		go func() { done <- server.Serve(l) }()
		t.Cleanup(func() {
			server.Close()
			if err := <-done; err != nil {
				t.Error(err)
			}
			below.Close()
		})
		return open(t, "http://"+l.Addr().String(), etcd.Options{})
	})
}
