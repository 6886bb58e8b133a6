package controlplane_test

import (
	"bytes"
	"net"
	"path/filepath"
	"testing"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/internal/controlplane/controlplanetest"
	"fairlead.dev/internal/controlplane/kubeconfig"
	"fairlead.dev/internal/controlplane/pki"
	"fairlead.dev/storage/etcdserver"
	"fairlead.dev/storage/local"
)

// TestRotateSharedKeys: a rotation at one server of an etcd cluster is one at the others, whose data directories may have the
// keys, too.
func TestRotateSharedKeys(t *testing.T) {
	s, err := local.Open("", local.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	etcd := controlplane.Etcd{Servers: []string{"http://" + l.Addr().String()}}
	server := etcdserver.New(etcdserver.Config{Store: s, ClientURLs: etcd.Servers})
	go server.Serve(l)
	t.Cleanup(func() { server.Close(); s.Close() })
	dir := t.TempDir()
	if _, err := pki.Load(filepath.Join(dir, "pki")); err != nil {
		t.Fatal(err)
	}
	first := controlplanetest.Start(t, controlplane.Options{DataDir: dir, Etcd: etcd})
	written := make(chan bool, 8)
	second := controlplanetest.Start(t, controlplane.Options{DataDir: t.TempDir(), Etcd: etcd, Renewed: func(e kubeconfig.Entry) error {
		written <- bytes.Count(e.CA, []byte("BEGIN")) == 2
		return nil
	}})
	other := renewed{t, second, second.URL()}
	before := second.Config()
	for _, step := range []struct {
		pki.Rotation
		both bool
	}{{pki.Rotation{CA: true, TokenKey: true}, true}, {pki.Rotation{Finish: true}, false}} {
		if err := first.Renew(t.Context(), pki.Renewal{Rotation: step.Rotation}); err != nil {
			t.Fatal(err)
		}
		if both := <-written; both != step.both {
			t.Errorf("%+v: the other server trusts both CAs: %v", step.Rotation, both)
		}
		config := first.Config()
		config.Host = second.URL()
		other.accepted("a kubeconfig of the first server", config)
		if user, err := other.whoami(before); (err == nil) != step.both {
			t.Errorf("%+v: an old kubeconfig is that of %q: %v", step.Rotation, user, err)
		}
	}
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	again, err := controlplane.Start(t.Context(), controlplane.Options{DataDir: dir, Etcd: etcd, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Stop(); err != nil {
		t.Error(err)
	}
}
