package ui_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/ui"
	"time"
)

var ann = &auth.User{Name: "ann", Groups: []string{auth.AllAuthenticated}}

// host is the page's address in the tests' requests.
const host = "127.0.0.1:6443"

// site returns a page over an API that reports the user and the cookies of a request.
func site() (*ui.Page, http.Handler) {
	page := ui.New(ui.Options{})
	who := auth.WithAnonymous(page)
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, _, err := who.Authenticate(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		io.WriteString(w, user.Name+" "+r.Header.Get("Cookie"))
	})
	return page, page.Over(api)
}

// ask sends a request with headers, given in pairs.
func ask(h http.Handler, method, path, body string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, "https://"+host+path, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

// own are the headers of the page's requests.
var own = []string{ui.Header, "1", "Sec-Fetch-Site", "same-origin"}

// login follows a link, as the login page does.
func login(h http.Handler, link ui.Link, headers ...string) *http.Response {
	at, _ := url.Parse(link.Path)
	body, _ := json.Marshal(map[string]string{"secret": at.Fragment})
	return ask(h, "POST", at.Path, string(body), headers...)
}

func session(t *testing.T, page *ui.Page, h http.Handler) *http.Cookie {
	t.Helper()
	res := login(h, page.Link(ann), own...)
	if res.StatusCode != http.StatusOK || len(res.Cookies()) != 1 {
		t.Fatalf("login: %s, cookies %v", res.Status, res.Cookies())
	}
	return res.Cookies()[0]
}

func text(t *testing.T, res *http.Response) string {
	t.Helper()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}

// TestLogin checks that a link allows one login, only from the login page, and that its cookie is protected from
// scripts and other sites.
func TestLogin(t *testing.T) {
	page, h := site()
	link := page.Link(ann)
	for _, headers := range [][]string{
		{}, {"Sec-Fetch-Site", "same-origin"}, {ui.Header, "1", "Sec-Fetch-Site", "same-site"},
		{ui.Header, "1", "Sec-Fetch-Site", "cross-site"}, {ui.Header, "1", "Origin", "https://127.0.0.1:7000"}, {ui.Header, "1"},
	} {
		if res := login(h, link, headers...); res.StatusCode != http.StatusForbidden || len(res.Cookies()) > 0 {
			t.Errorf("%v: %s", headers, res.Status)
		}
	}
	res := login(h, link, own...)
	if res.StatusCode != http.StatusOK {
		t.Fatal(res.Status)
	}
	c := res.Cookies()[0]
	if !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || c.Name != "__Host-fairlead-6443" {
		t.Errorf("cookie %+v", c)
	}
	if res := login(h, link, own...); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("the second time: %s", res.Status)
	}
	if res := login(h, ui.Link{Path: "/ui/login#guess"}, own...); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("a guess: %s", res.Status)
	}
}

// TestCookie checks that the cookie counts only in requests of the page's scripts, and that handlers behind the
// page do not see it.
func TestCookie(t *testing.T) {
	page, h := site()
	c := session(t, page, h)
	shown := c.Name + "=" + c.Value
	for _, x := range []struct {
		name    string
		method  string
		headers []string
		want    string
	}{
		{"the page's scripts", "GET", own, "ann"},
		{"that write", "DELETE", own, "ann"},
		{"an older browser's", "GET", []string{ui.Header, "1"}, "ann"},
		{"that write", "POST", []string{ui.Header, "1", "Origin", "https://" + host}, "ann"},
		{"that write and don't say from where", "POST", []string{ui.Header, "1"}, "system:anonymous"},
		{"a link", "GET", []string{"Sec-Fetch-Site", "none"}, "system:anonymous"},
		{"an image of the same site", "GET", []string{"Sec-Fetch-Site", "same-origin"}, "system:anonymous"},
		{"another port's scripts", "GET", []string{ui.Header, "1", "Sec-Fetch-Site", "same-site"}, "system:anonymous"},
		{"another site's form", "POST", []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"}, "system:anonymous"},
		{"another port's, older", "POST", []string{ui.Header, "1", "Origin", "https://127.0.0.1:7000"}, "system:anonymous"},
	} {
		if got := text(t, ask(h, x.method, "/api/v1/pods", "", append(x.headers, "Cookie", shown)...)); got != x.want {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
	for _, x := range []struct {
		name    string
		headers []string
		want    string
	}{
		{"the page's WebSocket", []string{"Origin", "https://" + host, "Sec-Fetch-Site", "same-origin"}, "ann"},
		{"an older browser's", []string{"Origin", "https://" + host}, "ann"},
		{"another site's", []string{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"}, "system:anonymous"},
		{"another port's", []string{"Origin", "https://127.0.0.1:7000", "Sec-Fetch-Site", "same-site"}, "system:anonymous"},
		{"another scheme's", []string{"Origin", "http://" + host}, "system:anonymous"},
		{"a visited page's", []string{"Origin", "null", "Sec-Fetch-Site", "cross-site"}, "system:anonymous"},
		{"one without an origin", nil, "system:anonymous"},
		{"one with the header alone", own, "system:anonymous"},
	} {
		upgrade := append([]string{"Connection", "Upgrade", "Upgrade", "websocket", "Cookie", shown}, x.headers...)
		if got := text(t, ask(h, "GET", "/api/v1/namespaces/a/pods/b/exec", "", upgrade...)); got != x.want {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
	if got := text(t, ask(h, "GET", "/api/v1/pods", "", "Upgrade", "websocket", "Origin", "https://"+host)); got != "system:anonymous" {
		t.Errorf("a WebSocket of another client: %q", got)
	}
	got := text(t, ask(h, "GET", "/api/v1/pods", "", append(own, "Cookie", "a=1; "+shown+"; __Host-fairlead-7000=x", "Cookie", "b=2")...))
	if got != "ann a=1; b=2" {
		t.Errorf("behind the page there is %q", got)
	}
	if res := ask(h, "GET", "/api/v1/pods", "", append(own, "Cookie", c.Name+"=guess")...); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("a guess: %s", res.Status)
	}
	if res := ask(h, "GET", "/api/v1/pods", "", own...); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("the page without a cookie: %s", res.Status)
	}
	if got := text(t, ask(h, "POST", ui.LinksPath, "", append(own, "Cookie", shown)...)); got != "system:anonymous" {
		t.Errorf("a session makes links as %q", got)
	}
	if res := ask(h, "POST", "/ui/logout", "", "Cookie", shown); res.StatusCode != http.StatusForbidden {
		t.Errorf("somebody else logs out: %s", res.Status)
	}
	if res := ask(h, "POST", "/ui/logout", "", append(own, "Cookie", shown)...); res.StatusCode != http.StatusNoContent || res.Cookies()[0].MaxAge >= 0 {
		t.Errorf("logout: %s", res.Status)
	}
	if res := ask(h, "GET", "/api/v1/pods", "", append(own, "Cookie", shown)...); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("after the logout: %s", res.Status)
	}
}

// TestPages checks that without a login only the login page is served, and that all pages forbid foreign scripts.
func TestPages(t *testing.T) {
	page, h := site()
	c := session(t, page, h)
	for _, x := range []struct {
		path        string
		out, in     int
		has, header string
	}{
		{"/ui", 301, 301, "", ""},
		{"/ui/", 303, 200, "app.js", "text/html"},
		{"/ui/login", 200, 200, "login.js", "text/html"},
		{"/ui/assets/login.js", 200, 200, "/ui/login", "text/javascript"},
		{"/ui/assets/style.css", 200, 200, "color-scheme", "text/css"},
		{"/ui/assets/app.js", 401, 200, "follow", "text/javascript"},
		{"/ui/assets/nothing.js", 401, 404, "", ""},
		{"/ui/assets/..%2fpage.go", 401, 404, "", ""},
		{"/ui/nothing", 404, 404, "", ""},
		{"/ui/session", 401, 401, "", ""}, // not from the page's scripts
	} {
		for _, in := range []bool{false, true} {
			headers, want := []string(nil), x.out
			if in {
				headers, want = []string{"Cookie", c.Name + "=" + c.Value}, x.in
			}
			res := ask(h, "GET", x.path, "", headers...)
			if res.StatusCode != want {
				t.Errorf("%s, logged in %t: %s, want %d", x.path, in, res.Status, want)
			}
			policy := res.Header.Get("Content-Security-Policy")
			if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self';") || strings.Contains(policy, "unsafe") || res.Header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s: policy %q", x.path, policy)
			}
			if body := text(t, res); want == 200 && (!strings.Contains(body, x.has) || !strings.HasPrefix(res.Header.Get("Content-Type"), x.header)) {
				t.Errorf("%s: %s, without %q", x.path, res.Header.Get("Content-Type"), x.has)
			}
		}
	}
	first := ask(h, "GET", "/ui/login", "")
	if res := ask(h, "GET", "/ui/login", "", "If-None-Match", first.Header.Get("Etag")); res.StatusCode != http.StatusNotModified {
		t.Errorf("what the browser has is sent again: %s", res.Status)
	}
	if got := text(t, ask(h, "GET", "/ui/session", "", append(own, "Cookie", c.Name+"="+c.Value)...)); !strings.Contains(got, `"user":"ann"`) {
		t.Errorf("the session is %s", got)
	}
	if got := text(t, ask(h, "GET", "/uix", "")); !strings.HasPrefix(got, "system:anonymous") {
		t.Errorf("what is not the page's: %s", got)
	}
}

// TestLinks checks that authenticated users get links in their own name.
func TestLinks(t *testing.T) {
	page, h := site()
	make := func(method string, user *auth.User) *http.Response {
		r := httptest.NewRequest(method, "https://"+host+ui.LinksPath, nil)
		if user != nil {
			r = r.WithContext(auth.WithUser(r.Context(), user))
		}
		w := httptest.NewRecorder()
		page.Links().ServeHTTP(w, r)
		return w.Result()
	}
	for _, x := range []struct {
		method string
		user   *auth.User
		want   int
	}{
		{"POST", nil, 403}, {"POST", &auth.User{Name: auth.AnonymousUser, Groups: []string{auth.AllUnauthenticated}}, 403}, {"GET", ann, 405},
	} {
		if res := make(x.method, x.user); res.StatusCode != x.want {
			t.Errorf("%s by %v: %s, want %d", x.method, x.user, res.Status, x.want)
		}
	}
	var link ui.Link
	if err := json.NewDecoder(make("POST", ann).Body).Decode(&link); err != nil {
		t.Fatal(err)
	}
	if got := text(t, login(h, link, own...)); !strings.Contains(got, `"user":"ann"`) {
		t.Errorf("logged in: %s", got)
	}
}

// TestExpiry checks that links and sessions expire, and that the oldest end when there are too many.
func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page, h := site()
		late := page.Link(ann)
		c := session(t, page, h)
		open := func() int {
			return ask(h, "GET", "/api/v1/pods", "", append(own, "Cookie", c.Name+"="+c.Value)...).StatusCode
		}
		time.Sleep(ui.LinkLife)
		if res := login(h, late, own...); res.StatusCode != http.StatusUnauthorized {
			t.Errorf("a link that is too old: %s", res.Status)
		}
		time.Sleep(ui.SessionLife - ui.LinkLife - time.Second)
		if code := open(); code != http.StatusOK {
			t.Errorf("a second before its end the session says %d", code)
		}
		time.Sleep(time.Second)
		if code := open(); code != http.StatusUnauthorized {
			t.Errorf("at its end the session says %d", code)
		}

		first := page.Link(ann)
		for range 256 {
			time.Sleep(time.Millisecond)
			late = page.Link(ann)
		}
		if a, z := login(h, first, own...), login(h, late, own...); a.StatusCode != http.StatusUnauthorized || z.StatusCode != http.StatusOK {
			t.Errorf("of too many links the first: %s, the last: %s", a.Status, z.Status)
		}
	})
}

// TestStreams checks that an open response ends with its session, by logout or expiry, and not with another
// session.
func TestStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		page := ui.New(ui.Options{})
		h := page.Over(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
		follow := func(c *http.Cookie) (ended func() bool) {
			done := make(chan struct{})
			go func() {
				ask(h, "GET", "/debug/lives?follow=true", "", append(own, "Cookie", c.Name+"="+c.Value)...)
				close(done)
			}()
			return func() bool {
				synctest.Wait()
				select {
				case <-done:
					return true
				default:
					return false
				}
			}
		}
		leaves, stays := session(t, page, h), session(t, page, h)
		first, second, other := follow(leaves), follow(leaves), follow(stays)
		if first() || second() || other() {
			t.Fatal("a stream has ended by itself")
		}
		ask(h, "POST", "/ui/logout", "", append(own, "Cookie", leaves.Name+"="+leaves.Value)...)
		if !first() || !second() {
			t.Error("a stream goes on after the logout")
		}
		time.Sleep(ui.SessionLife - time.Second)
		if other() {
			t.Error("somebody else's logout has ended a stream")
		}
		time.Sleep(time.Second)
		if !other() {
			t.Error("a stream goes on when its session is over")
		}
		pushed := follow(session(t, page, h))
		for range 256 {
			time.Sleep(time.Millisecond)
			session(t, page, h)
		}
		if !pushed() {
			t.Error("a stream goes on when its session has made room for another")
		}
	})
}

// TestVirtualTime: on a server with a virtual clock a session expires by the real time.
func TestVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		real := time.Now()
		page := ui.New(ui.Options{RealTime: func() time.Time { return real }})
		h := page.Over(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
		c := session(t, page, h)
		if !c.Expires.IsZero() || c.MaxAge != int(ui.SessionLife.Seconds()) {
			t.Errorf("the cookie expires at %v, after %d s: a browser compares a time with the server's", c.Expires, c.MaxAge)
		}
		cookie := append(own, "Cookie", c.Name+"="+c.Value)
		code := func() int { return ask(h, "GET", "/ui/session", "", cookie...).StatusCode }
		ended := make(chan struct{})
		go func() {
			ask(h, "GET", "/debug/lives?follow=true", "", cookie...)
			close(ended)
		}()
		time.Sleep(1000 * ui.SessionLife)
		if got := code(); got != http.StatusOK {
			t.Errorf("after an advance of the clock the session says %d", got)
		}
		select {
		case <-ended:
			t.Error("a stream ended by the virtual clock")
		default:
		}
		real = real.Add(ui.SessionLife)
		if got := code(); got != http.StatusUnauthorized {
			t.Errorf("at its end the session says %d", got)
		}
		<-ended
	})
}
