package ui

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"fairlead.dev/internal/server/auth"
)

// Header is set on every request of the page's scripts. A script of another origin may set it only after a
// preflight allows it, which never happens.
const Header = "X-Fairlead-Page"

var errSession = apierrors.NewUnauthorized("the page's session is over")

// Authenticate implements auth.Authenticator for requests that came through Over. It accepts the session cookie
// only in requests from the page's scripts. Such a request without a session fails instead of being anonymous: the
// page must learn that it has no session.
func (p *Page) Authenticate(r *http.Request) (*auth.User, bool, error) {
	if user := visitor(r); user != nil {
		return user, true, nil
	}
	if !fromPage(r) || r.URL.Path == LinksPath { // a session cannot create links
		return nil, false, nil
	}
	secret := shown(r)
	if g, ok := p.sessions.find(secret); ok {
		return g.user, true, nil
	}
	return nil, false, errSession
}

// fromPage reports whether the request is from one of the page's scripts.
func fromPage(r *http.Request) bool {
	if isWebSocket(r) {
		return shown(r) != "" && ownOrigin(r) && ownSite(r) // other clients name this server as their Origin too
	}
	if r.Header.Get(Header) == "" {
		return false
	}
	if r.Header.Get("Sec-Fetch-Site") != "" {
		return ownSite(r)
	}
	// An older browser sends Origin at least with requests that may change something.
	if r.Header.Get("Origin") != "" {
		return ownOrigin(r)
	}
	return r.Method == http.MethodGet || r.Method == http.MethodHead
}

// isWebSocket reports whether the request opens a WebSocket. Scripts cannot set its header; browsers always send its
// Origin, which scripts cannot choose.
func isWebSocket(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// ownOrigin reports whether a page of this server sent the request, by the Origin that the browser sets.
func ownOrigin(r *http.Request) bool {
	from, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && from.Scheme == "https" && from.Host == r.Host
}

// ownSite reports whether the browser says so by Sec-Fetch-Site, or is too old to send it.
func ownSite(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "" || site == "same-origin"
}

// cookieName includes the port. Browsers send a host's cookies to all its ports, and servers on one machine must
// not overwrite each other's.
func cookieName(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		port = "443"
	}
	return "__Host-fairlead-" + port
}

// cookie returns a cookie that carries a session's secret, or that deletes it. It has a Max-Age and no Expires, which a
// browser compares with the server's Date: on a server with a virtual clock that may be days ahead.
func cookie(r *http.Request, secret string) *http.Cookie {
	c := &http.Cookie{
		Name: cookieName(r), Value: secret, Path: "/", MaxAge: int(SessionLife.Seconds()),
		Secure: true, HttpOnly: true, SameSite: http.SameSiteStrictMode,
	}
	if secret == "" {
		c.MaxAge = -1
	}
	return c
}

type shownKey struct{}

// withoutCookie removes session cookies, including those of other servers, from the request's header, and puts this
// server's into its context.
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

// shown returns the session secret of a request, or "".
func shown(r *http.Request) string {
	secret, _ := r.Context().Value(shownKey{}).(string)
	return secret
}
