package ui_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/ui"
)

const port = "/api/v1/namespaces/a/pods/http:b:80/proxy"

// visits returns a page over an API that reports the user and the path of a request, and that tries to set a cookie.
func visits() (*ui.Page, http.Handler) {
	page := ui.New(ui.Options{})
	who := auth.WithAnonymous(page)
	return page, page.Over(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, _, err := who.Authenticate(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		w.Header().Set("Set-Cookie", "__Host-fairlead-6443=evil; Secure; Path=/")
		w.Header().Set("Clear-Site-Data", `"cookies"`)
		w.Header().Set("Content-Security-Policy", "default-src *")
		fmt.Fprintf(w, "%s %s %s %s", user.Name, r.Method, r.URL.RequestURI(), r.RequestURI)
	}))
}

// visit opens a port and returns the path of the visit.
func visit(t *testing.T, h http.Handler, c *http.Cookie) string {
	t.Helper()
	res := ask(h, "POST", "/ui/visits", `{"path":"`+port+`"}`, append(own, "Cookie", c.Name+"="+c.Value)...)
	var link ui.Link
	if err := json.NewDecoder(res.Body).Decode(&link); err != nil || !strings.HasPrefix(link.Path, "/ui/visits/") {
		t.Fatalf("%s: %v, %v", res.Status, link, err)
	}
	return link.Path
}

// TestVisit checks that a visit leads to the proxy that it was opened for, as its user, without the page's origin.
func TestVisit(t *testing.T) {
	page, h := visits()
	c := session(t, page, h)
	shown := c.Name + "=" + c.Value
	at := visit(t, h, c)
	for _, method := range []string{"GET", "POST"} {
		res := ask(h, method, at+"docs/?q=1", "", "Sec-Fetch-Site", "cross-site", "Origin", "null")
		if got, want := text(t, res), "ann "+method+" "+port+"/docs/?q=1 https://"+host+at+"docs/?q=1"; got != want {
			t.Errorf("the proxy sees %q, want %q", got, want)
		}
		if policy := res.Header["Content-Security-Policy"]; len(policy) != 2 || !strings.HasPrefix(policy[1], "sandbox ") || strings.Contains(policy[1], "allow-same-origin") {
			t.Errorf("the policy is %q", policy)
		}
		for _, name := range []string{"Set-Cookie", "Clear-Site-Data"} {
			if res.Header.Get(name) != "" {
				t.Errorf("the pod has set %s", name)
			}
		}
	}
	for _, path := range []string{at + "../../../../secrets", at + "%2e%2e/x", "/ui/visits/guess/", strings.TrimSuffix(at, "/")} {
		if res := ask(h, "GET", path, "", "Cookie", shown); res.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s, %s", path, res.Status, text(t, res))
		}
	}
	if res := ask(h, "GET", at, "", "Upgrade", "websocket", "Connection", "Upgrade"); res.StatusCode != http.StatusNotImplemented {
		t.Errorf("an upgrade: %s", res.Status)
	}
	for _, path := range []string{"/api/v1/namespaces/a/secrets", port + "/../x", "/api/v1/nodes/n/proxy", "/ui/links", ""} {
		body, _ := json.Marshal(map[string]string{"path": path})
		if res := ask(h, "POST", "/ui/visits", string(body), append(own, "Cookie", shown)...); res.StatusCode != http.StatusBadRequest {
			t.Errorf("a visit to %q: %s", path, res.Status)
		}
	}
	for _, headers := range [][]string{{"Cookie", shown, "Sec-Fetch-Site", "cross-site", ui.Header, "1"}, {"Cookie", shown}, own} {
		if res := ask(h, "POST", "/ui/visits", `{"path":"`+port+`"}`, headers...); res.StatusCode != http.StatusUnauthorized {
			t.Errorf("a visit opened with %v: %s", headers, res.Status)
		}
	}
}

// TestVisitEnds checks that visits end with their session, and after a time.
func TestVisitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page, h := visits()
		c, other := session(t, page, h), session(t, page, h)
		first, second := visit(t, h, c), visit(t, h, other)
		ask(h, "POST", "/ui/logout", "", append(own, "Cookie", c.Name+"="+c.Value)...)
		for at, want := range map[string]int{first: 404, second: 200} {
			if res := ask(h, "GET", at, ""); res.StatusCode != want {
				t.Errorf("after the logout: %s, want %d", res.Status, want)
			}
		}
		time.Sleep(ui.VisitLife)
		if res := ask(h, "GET", second, ""); res.StatusCode != http.StatusNotFound {
			t.Errorf("after its time: %s", res.Status)
		}
	})
}
