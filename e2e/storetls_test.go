package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"fairlead.dev/internal/controlplane/pki"
)

// TestStoreTLS serves etcd with certificates, to `fairlead store`, to etcdctl and to
// probes that have one themselves, and to no other client.
func TestStoreTLS(t *testing.T) {
	t.Parallel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	authority, err := pki.New(time.Now)
	must(err)
	serving, err := authority.Serving("127.0.0.1")
	must(err)
	key, err := x509.MarshalPKCS8PrivateKey(serving.PrivateKey)
	must(err)
	certPEM, keyPEM, err := authority.Client("me")
	must(err)
	own, err := tls.X509KeyPair(certPEM, keyPEM)
	must(err)
	dir := t.TempDir()
	write := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		must(os.WriteFile(path, b, 0o600))
		return path
	}
	ca := write("ca.crt", authority.PEM())
	serverCert := write("server.crt", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: serving.Certificate[0]}))
	serverKey := write("server.key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))
	cert, clientKey := write("me.crt", certPEM), write("me.key", keyPEM)

	p := launch(t, "etcd", "--in-memory", "--listen", "127.0.0.1:0",
		"--cert-file", serverCert, "--key-file", serverKey, "--trusted-ca-file", ca)
	etcdctl := exec.CommandContext(t.Context(), bin.etcdctl, "--endpoints="+p.Endpoint, "--cacert="+ca, "--cert="+cert, "--key="+clientKey, "put", "a", "1")
	if out, err := etcdctl.CombinedOutput(); err != nil || string(out) != "OK\n" {
		t.Errorf("etcdctl put: %v, %s", err, out)
	}
	at := []string{"store", "get", "a", "--endpoints", p.Endpoint, "--cacert", ca}
	fairlead(t, append(at, "--cert", cert, "--key", clientKey)...).does(t, "a\n1\n")
	fairlead(t, at...).fails(t, 1, p.Endpoint)
	fairlead(t, "store", "get", "a", "--endpoints", p.Endpoint, "--cert", cert, "--key", clientKey).fails(t, 1, "unknown authority")

	with := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority.Pool(), Certificates: []tls.Certificate{own}}}}
	for path, part := range map[string]string{"/health": `"health":"true"`, "/version": `"etcdserver":"3.7`, "/readyz": "ok", "/livez": "ok"} {
		r, err := with.Get(p.Endpoint + path)
		must(err)
		b, _ := io.ReadAll(r.Body)
		r.Body.Close()
		if r.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %s", path, r.StatusCode, b)
		}
		expect(t, path, string(b), part)
	}
	without := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority.Pool()}}}
	if r, err := without.Get(p.Endpoint + "/health"); err == nil {
		r.Body.Close()
		t.Error("a client without a certificate was let in")
	}
	p.stop()

	// An invalid file is refused before the server starts.
	for _, files := range [][]string{
		{"--cert-file", serverCert}, {"--key-file", serverKey}, {"--cert-file", serverCert, "--key-file", clientKey},
		{"--trusted-ca-file", ca}, {"--cert-file", serverCert, "--key-file", serverKey, "--trusted-ca-file", serverKey},
	} {
		r := fairlead(t, append([]string{"etcd", "--in-memory", "--listen", "127.0.0.1:0"}, files...)...)
		if r.code == 0 || r.out != "" {
			t.Errorf("%q: exit %d, %s", files, r.code, r.out)
		}
	}
}
