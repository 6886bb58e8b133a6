package ui

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"fairlead.dev/internal/server/auth"
)

// Paths of the page.
const (
	Root      = "/ui/"
	loginPath = Root + "login"
	// LinksPath creates links: a POST to it returns a Link for its user. It belongs in server.Config.Paths, whose
	// requests are authenticated and authorized.
	LinksPath = Root + "links"
)

// Page serves the page and holds its links, sessions and visits. It is created by New.
type Page struct {
	options                 Options
	links, sessions, visits secrets
}

// Options are what the page has to know of its server.
type Options struct {
	// Faults reports that the server takes faults (server.Config.Faults).
	Faults bool
	// RealTime, if not nil, is the real time of a server with a virtual clock (server.Config.Clock). Links, sessions and
	// visits expire by it, and open responses of an expired session end at its next request.
	RealTime func() time.Time
}

// New returns a page without links.
func New(o Options) *Page {
	of := func(life time.Duration) secrets { return secrets{life: life, realTime: o.RealTime} }
	return &Page{options: o, links: of(LinkLife), sessions: of(SessionLife), visits: of(VisitLife)}
}

// Link creates a link for one login as user: a path and a fragment, to be appended to the server's URL.
func (p *Page) Link(user *auth.User) Link {
	secret, expires := p.links.issue(user)
	return Link{Path: loginPath + "#" + secret, Expires: expires}
}

// Link is the response of LinksPath.
type Link struct {
	Path    string    `json:"path"`
	Expires time.Time `json:"expires"`
}

// Links serves LinksPath.
func (p *Page) Links() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, ok := auth.UserFrom(r.Context())
		switch {
		case r.Method != http.MethodPost:
			w.Header().Set("Allow", http.MethodPost)
			http.Error(w, "POST makes a link", http.StatusMethodNotAllowed)
		case !ok || user.InGroup(auth.AllUnauthenticated):
			http.Error(w, "links are for users", http.StatusForbidden)
		default:
			answer(w, p.Link(user))
		}
	})
}

// Over serves the page, and passes all other requests to next.
func (p *Page) Over(next http.Handler) http.Handler {
	own := http.NewServeMux()
	own.HandleFunc("GET /ui", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, Root, http.StatusMovedPermanently) })
	own.HandleFunc("GET "+Root+"{$}", p.home)
	own.HandleFunc("GET "+loginPath, func(w http.ResponseWriter, r *http.Request) { serveFile(w, r, "login.html") })
	own.HandleFunc("POST "+loginPath, p.login)
	own.HandleFunc("POST "+Root+"logout", p.logout)
	own.HandleFunc("GET "+Root+"session", p.session)
	own.HandleFunc("GET "+Root+"assets/{name}", p.asset)
	own.HandleFunc("POST "+Root+"visits", p.visit)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = withoutCookie(r)
		if strings.HasPrefix(r.URL.Path, visitsPath) {
			p.serveVisit(w, r, next)
			return
		}
		if !isPage(r.URL.Path) {
			w, r, done := p.within(w, r)
			defer done()
			next.ServeHTTP(w, r)
			return
		}
		guard(w.Header())
		own.ServeHTTP(w, r)
	})
}

// within makes a request of the page end with its session, and the connection of a WebSocket.
func (p *Page) within(w http.ResponseWriter, r *http.Request) (http.ResponseWriter, *http.Request, func()) {
	secret := shown(r)
	if secret == "" || !fromPage(r) {
		return w, r, func() {}
	}
	g, ok := p.sessions.find(secret)
	if !ok {
		return w, r, func() {}
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	stop := context.AfterFunc(g.ctx, func() { cancel(errSession) })
	if isWebSocket(r) {
		w = &mortal{w, ctx}
	}
	return w, r.WithContext(ctx), func() {
		stop()
		cancel(nil)
	}
}

// home serves the page itself, to logged-in users.
func (p *Page) home(w http.ResponseWriter, r *http.Request) {
	if _, ok := p.sessions.find(shown(r)); !ok {
		http.Redirect(w, r, loginPath, http.StatusSeeOther)
		return
	}
	serveFile(w, r, "index.html")
}

// asset serves a file of the page. Those of the login page are public.
func (p *Page) asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if _, ok := p.sessions.find(shown(r)); !ok && !public[name] {
		http.Error(w, "log in first", http.StatusUnauthorized)
		return
	}
	serveFile(w, r, name)
}

// login exchanges a link's secret for a session.
func (p *Page) login(w http.ResponseWriter, r *http.Request) {
	if !fromPage(r) {
		http.Error(w, "not from the login page", http.StatusForbidden)
		return
	}
	var sent struct {
		Secret string `json:"secret"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4096)).Decode(&sent); err != nil {
		http.Error(w, "want {\"secret\": ...}", http.StatusBadRequest)
		return
	}
	g, ok := p.links.take(sent.Secret)
	if !ok {
		http.Error(w, "this link has been used, or is too old", http.StatusUnauthorized)
		return
	}
	secret, expires := p.sessions.issue(g.user)
	http.SetCookie(w, cookie(r, secret))
	answer(w, p.about(grant{user: g.user, expires: expires}))
}

// logout ends the session.
func (p *Page) logout(w http.ResponseWriter, r *http.Request) {
	if !fromPage(r) {
		http.Error(w, "not from the page", http.StatusForbidden)
		return
	}
	p.sessions.take(shown(r))
	http.SetCookie(w, cookie(r, ""))
	w.WriteHeader(http.StatusNoContent)
}

// session returns the user of the session, and what the server offers.
func (p *Page) session(w http.ResponseWriter, r *http.Request) {
	g, ok := p.sessions.find(shown(r))
	if !ok || !fromPage(r) {
		http.Error(w, "log in first", http.StatusUnauthorized)
		return
	}
	answer(w, p.about(g))
}

// whose describes a session, and the server, to the page.
type whose struct {
	User        string    `json:"user"`
	Expires     time.Time `json:"expires"`
	Faults      bool      `json:"faults"`
	VirtualTime bool      `json:"virtualTime"`
}

func (p *Page) about(g grant) whose {
	return whose{g.user.Name, g.expires, p.options.Faults, p.options.RealTime != nil}
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(v) // fails if the client has gone
}
