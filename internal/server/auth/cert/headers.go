package cert

import (
	"net/http"
	"net/url"
	"strings"

	"fairlead.dev/internal/server/auth"
)

// Headers are the names of the headers in which a front proxy passes the user, as kube-apiserver's flags
// --requestheader-username-headers and the like configure them. Case does not matter.
type Headers struct {
	// Users and UIDs are looked at in order: the first header with a value counts.
	Users, UIDs []string
	// Groups are headers whose values are all groups of the user.
	Groups []string
	// ExtraPrefixes are followed by an extra key, in lower case and escaped as in paths.
	ExtraPrefixes []string
}

// StandardHeaders are those in which API servers pass users to each other.
func StandardHeaders() Headers {
	return Headers{
		Users: []string{"X-Remote-User"}, UIDs: []string{"X-Remote-Uid"}, Groups: []string{"X-Remote-Group"},
		ExtraPrefixes: []string{"X-Remote-Extra-"},
	}
}

// user returns the user that the headers pass, nil if they pass none.
func (n Headers) user(h http.Header) *auth.User {
	name := first(h, n.Users)
	if name == "" {
		return nil
	}
	u := &auth.User{Name: name, UID: first(h, n.UIDs), Extra: map[string][]string{}}
	for _, header := range n.Groups {
		for _, g := range h.Values(header) {
			if g != "" {
				u.Groups = append(u.Groups, g)
			}
		}
	}
	for _, prefix := range n.ExtraPrefixes {
		for header, values := range h {
			if !hasPrefix(header, prefix) {
				continue
			}
			key := strings.ToLower(header[len(prefix):])
			if plain, err := url.PathUnescape(key); err == nil {
				key = plain
			}
			u.Extra[key] = append(u.Extra[key], values...)
		}
	}
	return u
}

func first(h http.Header, names []string) string {
	for _, name := range names {
		if value := h.Get(name); value != "" {
			return value
		}
	}
	return ""
}

// WithoutHeaders returns an Authenticator that removes the headers from the requests whose user a has found. A server that
// this one forwards the request to then sees only headers that this server has set.
func WithoutHeaders(a auth.Authenticator, headers ...Headers) auth.Authenticator {
	return auth.AuthenticatorFunc(func(r *http.Request) (*auth.User, bool, error) {
		u, ok, err := a.Authenticate(r)
		if ok && err == nil {
			for _, h := range headers {
				h.removeFrom(r.Header)
			}
		}
		return u, ok, err
	})
}

func (n Headers) removeFrom(h http.Header) {
	for _, names := range [][]string{n.Users, n.UIDs, n.Groups} {
		for _, name := range names {
			h.Del(name)
		}
	}
	for header := range h {
		for _, prefix := range n.ExtraPrefixes {
			if hasPrefix(header, prefix) {
				delete(h, header)
			}
		}
	}
}

func hasPrefix(header, prefix string) bool {
	return len(header) >= len(prefix) && strings.EqualFold(header[:len(prefix)], prefix)
}
