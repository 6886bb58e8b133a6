package controlplane_test

import (
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"fairlead.dev/internal/controlplane"
	"fairlead.dev/storage"
	"fairlead.dev/storage/etcd"
)

// TestEtcdListenRefuses: without client certificates the store may only be served on
// loopback, except with EtcdListenInsecure.
func TestEtcdListenRefuses(t *testing.T) {
	files := serving(t)
	start := func(o controlplane.Options) (*controlplane.ControlPlane, error) {
		o.DataDir, o.InMemory, o.Listen = t.TempDir(), true, "127.0.0.1:0"
		return controlplane.Start(t.Context(), o)
	}
	for _, o := range []controlplane.Options{
		{EtcdListen: "0.0.0.0:0"}, {EtcdListen: ":0"}, {EtcdListen: "192.0.2.1:2379"}, {EtcdListen: "nowhere"},
		{EtcdListen: "0.0.0.0:0", EtcdTLS: files}, {EtcdListen: "unix://relative"}, {EtcdListen: "unix://" + files.CertFile},
	} {
		if cp, err := start(o); err == nil {
			cp.Stop()
			t.Errorf("%s was listened on", o.EtcdListen)
		}
	}
	var mu sync.Mutex
	var warned []string
	cp, err := start(controlplane.Options{
		EtcdListen: "0.0.0.0:0", EtcdTLS: files, EtcdListenInsecure: true,
		Warning: func(what, detail string) { mu.Lock(); defer mu.Unlock(); warned = append(warned, what+": "+detail) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer cp.Stop()
	mu.Lock()
	defer mu.Unlock()
	if len(warned) != 1 || !strings.HasPrefix(warned[0], "etcd: everyone who reaches this address") {
		t.Errorf("the warnings are %q", warned)
	}
}

// serving makes a server certificate without a CA for clients.
func serving(t *testing.T) (f controlplane.ServingFiles) {
	t.Helper()
	h := httptest.NewUnstartedServer(nil)
	h.StartTLS()
	defer h.Close()
	c := h.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, data []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return controlplane.ServingFiles{CertFile: write("crt", "CERTIFICATE", c.Certificate[0]), KeyFile: write("key", "PRIVATE KEY", key)}
}

// TestEtcdListenUnix: a Unix socket of the store is accessible to its owner only, and causes
// no warning. An address on loopback causes one.
func TestEtcdListenUnix(t *testing.T) {
	dir, err := os.MkdirTemp("", "etcd") // t.TempDir is long
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "s")
	for address, warns := range map[string]bool{"unix://" + path: false, "127.0.0.1:0": true} {
		var warned atomic.Int32
		cp, err := controlplane.Start(t.Context(), controlplane.Options{
			DataDir: t.TempDir(), InMemory: true, Listen: "127.0.0.1:0", EtcdListen: address,
			Warning: func(string, string) { warned.Add(1) },
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := warned.Load() > 0; got != warns {
			t.Errorf("%s: warned is %v", address, got)
		}
		s, err := etcd.Open(t.Context(), etcd.Options{Endpoints: []string{strings.TrimPrefix(cp.EtcdURL(), "http://")}, History: -1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Range(t.Context(), storage.RangeRequest{Start: "/registry/namespaces/default"}); err != nil {
			t.Errorf("%s: %v", address, err)
		}
		s.Close()
		if !warns {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the socket: %v %v", info, err)
			}
		}
		if err := cp.Stop(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the socket is still there: %v", err)
	}
}
