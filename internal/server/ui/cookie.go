package ui

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"fairlead.dev/internal/server/auth"
)

// Header is what each request of the page's scripts has. A script of another origin may
// set it only if a preflight allows it, and none is ever allowed.
const Header = "X-Fairlead-Page"

var errSession = errors.New("the page's session is over")

// Authenticate implements auth.Authenticator for requests that have come through Over: it
// believes the page's cookie if it is the page that asks. The page is nobody without a
// session: it is told that it has none, not what strangers may do.
func (p *Page) Authenticate(r *http.Request) (*auth.User, bool, error) {
	if !fromPage(r) || r.URL.Path == LinksPath { // a session makes no further ones
		return nil, false, nil
	}
	secret := shown(r)
	if g, ok := p.sessions.find(secret); ok {
		return g.user, true, nil
	}
	return nil, false, errSession
}

// fromPage says whether the request is one of the page's scripts.
func fromPage(r *http.Request) bool {
	if r.Header.Get(Header) == "" {
		return false
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin"
	}
	// An older browser says where a request is from at least if it may change something.
	if origin := r.Header.Get("Origin"); origin != "" {
		from, err := url.Parse(origin)
		return err == nil && from.Scheme == "https" && from.Host == r.Host
	}
	return r.Method == http.MethodGet || r.Method == http.MethodHead
}

// cookieName has the port in it, for browsers send a host's cookies to all its ports, and
// several servers on one machine are not to overwrite each other's.
func cookieName(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		port = "443"
	}
	return "__Host-fairlead-" + port
}

// cookie carries a session's secret, or takes it back.
func cookie(r *http.Request, secret string, expires time.Time) *http.Cookie {
	c := &http.Cookie{
		Name: cookieName(r), Value: secret, Path: "/", Expires: expires,
		Secure: true, HttpOnly: true, SameSite: http.SameSiteStrictMode,
	}
	if secret == "" {
		c.MaxAge = -1
	}
	return c
}

type shownKey struct{}

// withoutCookie moves sessions' cookies, also other servers', out of the request's
// header, and this server's into its context.
func withoutCookie(r *http.Request) *http.Request {
	if !strings.Contains(strings.Join(r.Header["Cookie"], ";"), "__Host-fairlead-") {
		return r
	}
	own, secret := cookieName(r), ""
	var rest []string
	for _, c := range r.Cookies() {
		switch {
		case c.Name == own:
			secret = c.Value
		case !strings.HasPrefix(c.Name, "__Host-fairlead-"):
			rest = append(rest, c.Name+"="+c.Value)
		}
	}
	r = r.Clone(context.WithValue(r.Context(), shownKey{}, secret))
	r.Header.Del("Cookie")
	if len(rest) > 0 {
		r.Header.Set("Cookie", strings.Join(rest, "; "))
	}
	return r
}

// shown is the session's secret that came with a request, "" for none.
func shown(r *http.Request) string {
	secret, _ := r.Context().Value(shownKey{}).(string)
	return secret
}
