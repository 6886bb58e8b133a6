package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"strings"
	"testing"

	"fairlead.dev/internal/server/ui"
)

// TestPage: the links of `up` and of `fairlead ui` start a session with the rights of the
// kubeconfig's user.
func TestPage(t *testing.T) {
	p := up(t, t.TempDir(), "--in-memory")
	cmd := fairlead(t, "ui", "--kubeconfig", p.Kubeconfig)
	for _, link := range []string{p.Page, firstLine(cmd.out)} {
		base, secret, ok := strings.Cut(link, "#")
		if !ok || base != p.Server+"/ui/login" {
			t.Fatalf("link %q", link)
		}
		browser := p.browser(t)
		ask := func(method, path, body string) (int, string) {
			req, err := http.NewRequest(method, p.Server+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set(ui.Header, "1")
			req.Header.Set("Sec-Fetch-Site", "same-origin")
			res, err := browser.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			data, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			return res.StatusCode, string(data)
		}
		if code, text := ask("GET", "/api/v1/namespaces", ""); code != http.StatusUnauthorized {
			t.Errorf("before the login: %d %s", code, text)
		}
		if code, text := ask("POST", "/ui/login", `{"secret":"`+secret+`"}`); code != http.StatusOK || !strings.Contains(text, "kubernetes-admin") {
			t.Fatalf("login: %d %s", code, text)
		}
		for _, path := range []string{"/ui/", "/api/v1/namespaces", "/debug/lives?limit=1", "/debug/watchers", "/metrics"} {
			if code, text := ask("GET", path, ""); code != http.StatusOK {
				t.Errorf("%s: %d %s", path, code, text)
			}
		}
		if code, _ := ask("POST", "/ui/login", `{"secret":"`+secret+`"}`); code != http.StatusUnauthorized {
			t.Errorf("the link works twice: %d", code)
		}
	}
	p.stop()
}

// browser is a client that keeps cookies and trusts the server.
func (p *process) browser(t *testing.T) *http.Client {
	t.Helper()
	ca, err := os.ReadFile(p.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}}
}
