package clientsuite

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
	"fairlead.dev/internal/controlplane/pki"
)

// front stands before the server with its own CA, as a cluster's load balancer may: the
// user of a client is the name in its certificate.
type front struct {
	*httptest.Server
	authority *pki.Authority
}

func newFront(t *testing.T) *front {
	t.Helper()
	authority, err := pki.New(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	serving, err := authority.Serving("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	admin, err := rest.TransportFor(target.config)
	if err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(target.config.Host)
	if err != nil {
		t.Fatal(err)
	}
	f := &front{authority: authority}
	f.Server = httptest.NewUnstartedServer(&httputil.ReverseProxy{
		Transport:     admin,
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			if of := r.In.TLS.PeerCertificates; len(of) > 0 {
				r.Out.Header["Impersonate-User"] = []string{of[0].Subject.CommonName}
				r.Out.Header["Impersonate-Group"] = append([]string{"system:authenticated"}, of[0].Subject.Organization...)
			}
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	})
	f.TLS = &tls.Config{Certificates: []tls.Certificate{*serving}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: authority.Pool(), NextProtos: []string{"h2"}}
	f.EnableHTTP2 = true
	f.StartTLS()
	t.Cleanup(func() {
		f.CloseClientConnections()
		f.Close()
	})
	return f
}

// certificate is that of a user with all rights.
func (f *front) certificate(t *testing.T, user string) (cert, key []byte) {
	t.Helper()
	cert, key, err := f.authority.Client(user, "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}

// whoami asks the server.
func whoami(t *testing.T, c *client.Client) (string, error) {
	t.Helper()
	r, err := client.For[*authenticationv1.SelfSubjectReview](c).Create(t.Context(), &authenticationv1.SelfSubjectReview{})
	if err != nil {
		return "", err
	}
	return r.Status.UserInfo.Username, nil
}

// is fails the test if the server sees another user in c's requests.
func is(t *testing.T, c *client.Client, user string) {
	t.Helper()
	if got, err := whoami(t, c); err != nil || got != user {
		t.Fatalf("the server knows us as %q (%v), want %s", got, err, user)
	}
}

// write replaces a file atomically, as tools that rotate credentials do.
func write(t *testing.T, path string, content []byte) {
	t.Helper()
	next := filepath.Join(filepath.Dir(path), "..next")
	if err := os.WriteFile(next, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
}
