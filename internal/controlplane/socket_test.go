package controlplane_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/storage"
	"fairlead.dev/storage/etcd"
)

// TestSocket reads a running store through its Unix socket, also after a crash has left an
// old socket. If the path is too long for a socket, the server starts without one.
func TestSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "socket") // t.TempDir is long
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "store", controlplane.SocketName)
	for range 2 {
		cp, err := controlplane.Start(t.Context(), controlplane.Options{DataDir: dir, Listen: "127.0.0.1:0"})
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("the socket: %v, %v", info, err)
		}
		s, err := etcd.Open(t.Context(), etcd.Options{Endpoints: []string{"unix://" + path}, History: -1})
		if err != nil {
			t.Fatal(err)
		}
		all, err := s.Range(t.Context(), storage.RangeRequest{Start: "/registry/", End: storage.PrefixEnd("/registry/"), CountOnly: true})
		if err != nil || all.Count == 0 {
			t.Errorf("%d keys, %v", all.Count, err)
		}
		s.Close()
		if err := cp.Stop(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(path); !os.IsNotExist(err) {
			t.Fatalf("the socket is still there: %v", err)
		}
		// The socket that a crash leaves.
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		l.Close()
	}

	long := filepath.Join(dir, strings.Repeat("x", 100))
	cp, err := controlplane.Start(t.Context(), controlplane.Options{DataDir: long, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer cp.Stop()
	if _, err := os.Lstat(filepath.Join(long, "store", controlplane.SocketName)); !os.IsNotExist(err) {
		t.Errorf("a socket with a long path: %v", err)
	}
}
