package pki_test

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"fairlead.dev/internal/controlplane/pki"
)

// TestCertificatesOutliveRestart: a server that loads an authority accepts client
// certificates from before its start, and reads the user's name from them.
func TestCertificatesOutliveRestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	first, err := pki.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	cert, key, err := first.Client("jane", "dev", "ops")
	if err != nil {
		t.Fatal(err)
	}
	second, err := pki.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	serving, err := second.Serving("127.0.0.1", "localhost")
	if err != nil {
		t.Fatal(err)
	}

	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		subject := r.TLS.PeerCertificates[0].Subject
		io.WriteString(w, subject.CommonName+" "+subject.Organization[1])
	}))
	srv.TLS = &tls.Config{
		Certificates: []tls.Certificate{*serving},
		ClientCAs:    second.Pool(),
		ClientAuth:   tls.RequireAndVerifyClientCert,
	}
	srv.StartTLS()
	defer srv.Close()

	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		RootCAs:      first.Pool(),
		Certificates: []tls.Certificate{pair},
	}}}
	resp, err := client.Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	if got, want := string(body), "jane ops"; got != want {
		t.Errorf("server saw %q, want %q", got, want)
	}
	if !first.TokenKey().Equal(second.TokenKey()) {
		t.Error("the token key changed with the restart")
	}
}

func TestKeyFileModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	if _, err := pki.Load(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ca.key", "sa.key", "front-proxy-ca.key"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("%s has mode %o", name, mode)
		}
	}
}

// TestDamagedAuthorityIsRefused: Load refuses a damaged authority and does not change its
// files. A new authority would make all earlier kubeconfigs invalid.
func TestDamagedAuthorityIsRefused(t *testing.T) {
	for _, name := range []string{"ca.crt", "ca.key", "sa.key", "front-proxy-ca.crt", "front-proxy-ca.key"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if _, err := pki.Load(dir); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte("garbage"), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := pki.Load(dir); err == nil {
				t.Fatal("loaded")
			}
			if b, _ := os.ReadFile(path); string(b) != "garbage" {
				t.Errorf("%s was overwritten", name)
			}
		})
	}
}

// TestAuthorityOfEarlierRelease: Load adds an authority of front proxies to the files of an
// earlier release, once. Servers that share the keys have the same one.
func TestAuthorityOfEarlierRelease(t *testing.T) {
	dir := t.TempDir()
	if _, err := pki.Load(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "front-proxy-ca.crt")); err != nil {
		t.Fatal(err)
	}
	first, err := pki.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	second, err := pki.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := second.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	shared, err := pki.Unmarshal(text, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []*pki.Authority{second, shared} {
		if string(a.FrontProxy().PEM()) != string(first.FrontProxy().PEM()) {
			t.Error("the authority of front proxies changed")
		}
	}
	old, err := pki.Unmarshal([]byte(regexp.MustCompile(`,"frontProxy.*"`).ReplaceAllString(string(text), "")), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if made, err := old.Complete(); err != nil || !made || old.FrontProxy() == nil {
		t.Error(made, err)
	}
}
