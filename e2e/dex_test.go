package e2e

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dexidp/dex/server"
	"github.com/dexidp/dex/storage"
	"github.com/dexidp/dex/storage/memory"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"
)

// dex is dex, an OpenID Connect provider, whose only user is kilgore@kilgore.trout of the group authors.
type dex struct {
	*httptest.Server
	ca      string
	handler atomic.Pointer[server.Server]
	age     atomic.Int64 // how long ago its clock stands, a time.Duration
}

const dexSecret = "secret-of-the-client"

// newDex starts dex with the clients kubernetes and other.
func newDex(t *testing.T) *dex {
	t.Helper()
	d := &dex{}
	d.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { d.handler.Load().ServeHTTP(w, r) }))
	t.Cleanup(d.Close)
	d.ca = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: d.Certificate().Raw}))
	log := logrus.New()
	log.SetOutput(io.Discard)
	kept := memory.New(log)
	for _, id := range []string{"kubernetes", "other"} {
		if err := kept.CreateClient(storage.Client{ID: id, Secret: dexSecret, RedirectURIs: []string{redirectURI}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := kept.CreateConnector(storage.Connector{ID: "mock", Type: "mockCallback", Name: "mock"}); err != nil {
		t.Fatal(err)
	}
	web, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}/web", "github.com/dexidp/dex").Output()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	s, err := server.NewServer(ctx, server.Config{
		Issuer: d.URL, Storage: kept, SkipApprovalScreen: true, IDTokensValidFor: time.Hour, Web: server.WebConfig{Dir: strings.TrimSpace(string(web))}, Logger: log, PrometheusRegistry: prometheus.NewRegistry(),
		Now: func() time.Time { return time.Now().Add(-time.Duration(d.age.Load())) },
	})
	if err != nil {
		t.Fatal(err)
	}
	d.handler.Store(s)
	return d
}

const redirectURI = "http://localhost/callback"

// login returns an ID token for the client, by the authorization code flow.
func (d *dex) login(t *testing.T, client string) string {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := *d.Client()
	browser.Jar = jar
	var code string
	browser.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if r.URL.Host == "localhost" {
			code = r.URL.Query().Get("code")
			return http.ErrUseLastResponse
		}
		return nil
	}
	query := url.Values{"client_id": {client}, "redirect_uri": {redirectURI}, "response_type": {"code"}, "scope": {"openid email groups profile"}, "state": {"x"}}
	resp, err := browser.Get(d.URL + "/auth?" + query.Encode())
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if code == "" {
		t.Fatalf("no code: %s %s", resp.Status, body)
	}
	req, err := http.NewRequest("POST", d.URL+"/token", strings.NewReader(url.Values{"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {redirectURI}}.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(client, dexSecret)
	if resp, err = d.Client().Do(req); err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct {
		Token string `json:"id_token"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || answer.Token == "" {
		t.Fatal("no token: ", resp.Status, err)
	}
	return answer.Token
}

// TestDex: kubectl acts as the user of a token of dex, with the rights of its groups.
func TestDex(t *testing.T) {
	d := newDex(t)
	dir, config := t.TempDir(), filepath.Join(t.TempDir(), "authentication.json")
	text, err := json.Marshal(map[string]any{"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthenticationConfiguration", "jwt": []any{map[string]any{
		"issuer": map[string]any{"url": d.URL, "audiences": []string{"kubernetes"}, "certificateAuthority": d.ca},
		"claimMappings": map[string]any{
			"username": map[string]any{"claim": "email", "prefix": "dex:"}, "groups": map[string]any{"claim": "groups", "prefix": "dex:"},
			"extra": []any{map[string]any{"key": "example.com/name", "valueExpression": "claims.name"}},
		},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, text, 0o600); err != nil {
		t.Fatal(err)
	}
	p := launch(t, "up", "--in-memory", "--data-dir", dir, "--listen=127.0.0.1:0", "--nodes=0", "--authentication-config", config)
	p.kubectl("create", "clusterrolebinding", "authors", "--clusterrole=view", "--group=dex:authors")
	as := func(token string, args ...string) string {
		flags := []string{"--kubeconfig=/dev/null", "--server", p.Server, "--certificate-authority", filepath.Join(dir, "ca.crt"), "--token", token}
		out, _ := exec.Command(bin.kubectl, append(flags, args...)...).CombinedOutput()
		return string(out)
	}
	token := d.login(t, "kubernetes")
	eventually(t, "dex has been asked for its keys", func() bool { return strings.Contains(as(token, "auth", "whoami"), "dex:kilgore@kilgore.trout") })
	expect(t, "the user", as(token, "auth", "whoami"), "dex:kilgore@kilgore.trout", "dex:authors", "system:authenticated", "example.com/name", "Kilgore Trout")
	expect(t, "a right of the group", as(token, "get", "configmaps", "-o", "name"), "configmap/kube-root-ca.crt")
	expect(t, "another right", as(token, "get", "secrets"), `User "dex:kilgore@kilgore.trout" cannot list resource "secrets"`)
	expect(t, "a token for another client", as(d.login(t, "other"), "auth", "whoami"), "Unauthorized")
	d.age.Store(int64(2 * time.Hour))
	expect(t, "an expired token", as(d.login(t, "kubernetes"), "auth", "whoami"), "Unauthorized")
	d.age.Store(0)
	last := d.login(t, "kubernetes")
	d.Close()
	expect(t, "a token of a provider that is down", as(last, "auth", "whoami"), "dex:kilgore@kilgore.trout")
}
