package etcdserver_test

import (
	"context"
	"net"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"fairlead.dev/storage"
	"fairlead.dev/storage/etcdserver"
	"fairlead.dev/storage/local"
)

// patience bounds every wait; it is not a measure of speed.
const patience = time.Minute

// serve serves a store in memory and returns a client of it.
func serve(t testing.TB) (*clientv3.Client, storage.Store) {
	t.Helper()
	store, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return connect(t, serveStore(t, etcdserver.Config{Store: store, ProgressInterval: 50 * time.Millisecond})), store
}

// serveStore serves a store until the test ends, and returns its address.
func serveStore(t testing.TB, c etcdserver.Config) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := etcdserver.New(c)
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Close()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return l.Addr().String()
}

func connect(t testing.TB, address string) *clientv3.Client {
	t.Helper()
	//lint:ignore SA1019 a test wants to fail at once if the server does not answer
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{address}, DialTimeout: patience, Logger: zap.NewNop(), DialOptions: []grpc.DialOption{grpc.WithBlock()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func ctx(t testing.TB) context.Context {
	c, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return c
}
