package ui

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"fairlead.dev/internal/server/auth"
)

// visitsPath is the root of visits; a secret follows, and a path at the visited port.
const visitsPath = Root + "visits/"

// visitable matches the paths that a visit can lead to.
var visitable = regexp.MustCompile(`^/api/v1/namespaces/[^/]+/(pods|services)/[^/]+/proxy$`)

// visitPolicy gives a visited page an origin of its own.
const visitPolicy = "sandbox allow-scripts allow-forms allow-modals allow-popups allow-downloads"

// visit creates a visit to a proxied port.
func (p *Page) visit(w http.ResponseWriter, r *http.Request) {
	g, ok := p.sessions.find(shown(r))
	if !ok || !fromPage(r) {
		http.Error(w, "log in first", http.StatusUnauthorized)
		return
	}
	var sent struct {
		Path string `json:"path"`
	}
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4096)).Decode(&sent)
	if err != nil || !visitable.MatchString(sent.Path) || climbs(sent.Path) {
		http.Error(w, `want {"path": ...}, the proxy of a pod or a service`, http.StatusBadRequest)
		return
	}
	secret, expires := p.visits.issueWithin(g.ctx, grant{user: g.user, path: sent.Path})
	answer(w, Link{Path: visitsPath + secret + "/", Expires: expires})
}

// climbs reports whether a path has elements that lead upwards.
func climbs(path string) bool { return slices.Contains(strings.Split(path, "/"), "..") }

type visitorKey struct{}

// visitor returns the user of a visit's request, or nil.
func visitor(r *http.Request) *auth.User {
	user, _ := r.Context().Value(visitorKey{}).(*auth.User)
	return user
}

// serveVisit passes a visit's request to next as a request to the proxy. The request's RequestURI stays, so that
// the proxy rewrites a page's links to paths of the visit.
func (p *Page) serveVisit(w http.ResponseWriter, r *http.Request, next http.Handler) {
	secret, rest, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, visitsPath), "/")
	g, found := p.visits.find(secret)
	if !ok || !found || climbs(rest) {
		guard(w.Header())
		http.Error(w, "this visit is over: open the port again from the page", http.StatusNotFound)
		return
	}
	if r.Header.Get("Upgrade") != "" { // its response would not be confined
		guard(w.Header())
		http.Error(w, "a visit passes no WebSocket on: use kubectl port-forward", http.StatusNotImplemented)
		return
	}
	ctx, cancel := context.WithCancelCause(context.WithValue(r.Context(), visitorKey{}, g.user))
	defer cancel(nil)
	defer context.AfterFunc(g.ctx, func() { cancel(errSession) })()
	r = r.Clone(ctx)
	r.URL.Path, r.URL.RawPath = g.path+"/"+rest, ""
	r.Header.Del(Header)
	next.ServeHTTP(&visited{ResponseWriter: w}, r)
}

// visited is the response to a visit.
type visited struct {
	http.ResponseWriter
	begun bool
}

// Unwrap is for http.ResponseController.
func (v *visited) Unwrap() http.ResponseWriter { return v.ResponseWriter }

func (v *visited) WriteHeader(code int) {
	if !v.begun {
		v.begun = code >= 200
		confine(v.Header())
	}
	v.ResponseWriter.WriteHeader(code)
}

func (v *visited) Write(data []byte) (int, error) {
	if !v.begun {
		v.WriteHeader(http.StatusOK)
	}
	return v.ResponseWriter.Write(data)
}

// confine sets the headers of a visited page. Its own origin is not that of its files, so they allow any.
func confine(h http.Header) {
	for _, name := range []string{"Set-Cookie", "Clear-Site-Data", "Strict-Transport-Security", "Service-Worker-Allowed", "Alt-Svc", "Access-Control-Allow-Credentials"} {
		h.Del(name)
	}
	h.Add("Content-Security-Policy", visitPolicy)
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}
