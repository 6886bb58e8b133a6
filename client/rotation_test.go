package client_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/internal/controlplane/pki"
)

// pipes is a listener in memory: the other end of each connection is dialled.
type pipes struct {
	conns chan net.Conn
	ended chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.ended:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error   { close(p.ended); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.ended:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// TestFilesOfAPodChange: of the two files that rest.InClusterConfig names, a new token is
// used after a minute, refused or not, and a new authority is trusted after five.
func TestFilesOfAPodChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := pipes{make(chan net.Conn), make(chan struct{})}
		var serving *tls.Certificate
		var takes, got string
		s := &http.Server{
			ErrorLog:  log.New(io.Discard, "", 0), // of handshakes that fail, as they should
			TLSConfig: &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return serving, nil }},
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", client.ContentTypeJSON)
				w.Header().Set("Connection", "close")
				if got = r.Header.Get("Authorization"); takes != "" && got != "Bearer "+takes {
					w.WriteHeader(http.StatusUnauthorized)
					json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Reason: "Unauthorized", Code: 401})
					return
				}
				if r.URL.Path == "/api/v1" {
					io.WriteString(w, `{"resources":[{"name":"pods","kind":"Pod","namespaced":true}]}`)
					return
				}
				io.WriteString(w, `{"metadata":{"name":"web"}}`)
			}),
		}
		done := make(chan error)
		go func() { done <- s.ServeTLS(p, "", "") }()
		defer func() {
			s.Close()
			<-done
		}()

		dir := t.TempDir()
		token, ca := filepath.Join(dir, "token"), filepath.Join(dir, "ca.crt")
		write := func(path string, content []byte) {
			t.Helper()
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		newAuthority := func() []byte {
			t.Helper()
			a, err := pki.New(time.Now)
			if err != nil {
				t.Fatal(err)
			}
			c, err := a.Serving("api.example.com")
			if err != nil {
				t.Fatal(err)
			}
			serving = c
			return a.PEM()
		}
		write(ca, newAuthority())
		write(token, []byte("one"))
		c, err := client.New(&rest.Config{Host: "https://api.example.com", Dial: p.dial, BearerToken: "one", BearerTokenFile: token,
			TLSClientConfig: rest.TLSClientConfig{CAFile: ca}}, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		pods := client.For[*corev1.Pod](c).Namespace("default")
		sends := func(want string) {
			t.Helper()
			if _, err := pods.Get(t.Context(), "web"); err != nil || got != "Bearer "+want {
				t.Fatalf("sent %s, want %s (%v)", got, want, err)
			}
		}
		sends("one")
		write(token, []byte("two"))
		sends("one")
		time.Sleep(time.Minute)
		sends("two")

		takes = "three"
		write(token, []byte("three"))
		if _, err := pods.Get(t.Context(), "web"); !errors.Is(err, client.ErrUnauthorized) {
			t.Fatalf("with an old token: %v", err)
		}
		time.Sleep(time.Minute)
		sends("three")

		write(ca, newAuthority())
		if _, err := pods.Get(t.Context(), "web"); err == nil {
			t.Fatal("an unknown authority is trusted")
		}
		time.Sleep(5 * time.Minute)
		sends("three")
	})
}
