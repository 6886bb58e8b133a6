package auth

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Impersonate returns the user as which a request is served: its own, or, if it has Impersonate- headers and its
// user may impersonate the user they name, that one. The headers are then removed from the request. asked are the
// attributes of the request with its own user, because an impersonation may be allowed for some requests only
// (KEP-5284). constraint is the verb by which a constrained mode allows it, "" for all others. Errors: *Denied if the user may not impersonate, and a BadRequest status error for invalid headers.
func Impersonate(ctx context.Context, r *http.Request, asked Attributes, a Authorizer) (u *User, constraint string, err error) {
	if !hasPrefix(r.Header, "Impersonate-") {
		return asked.User, "", nil
	}
	wanted, err := wantedUser(r.Header)
	if err != nil {
		return nil, "", err
	}
	if wanted == nil {
		return asked.User, "", nil
	}
	var first *Denied
	for _, m := range modes {
		if m.applies != nil && !m.applies(wanted, asked.User) {
			continue
		}
		u, denied := m.try(ctx, wanted, asked, a)
		if denied == nil {
			for name := range r.Header {
				if strings.HasPrefix(name, "Impersonate-") {
					r.Header.Del(name)
				}
			}
			return u, m.constraint(), nil
		}
		if first == nil {
			first = denied
		}
	}
	return nil, "", first
}

// Denied is a refused impersonation, which the server turns into a response.
type Denied struct {
	Attributes Attributes
	Reason     string
}

// Error implements error.
func (d *Denied) Error() string { return ForbiddenMessage(d.Attributes, d.Reason) }

// hasPrefix reports whether any header's name has the prefix.
func hasPrefix(h http.Header, prefix string) bool {
	for name := range h {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// wantedUser reads the impersonation headers. It returns nil if they name no user.
func wantedUser(h http.Header) (*User, error) {
	u := &User{
		Name:   h.Get(authenticationv1.ImpersonateUserHeader),
		UID:    h.Get(authenticationv1.ImpersonateUIDHeader),
		Groups: h[authenticationv1.ImpersonateGroupHeader],
	}
	more := u.UID != "" || len(u.Groups) > 0
	for header, values := range h {
		key, ok := strings.CutPrefix(header, authenticationv1.ImpersonateUserExtraHeaderPrefix)
		if !ok {
			continue
		}
		more = true
		key = strings.ToLower(key)
		if plain, err := url.PathUnescape(key); err == nil {
			key = plain
		}
		if u.Extra == nil {
			u.Extra = map[string][]string{}
		}
		u.Extra[key] = append(u.Extra[key], values...)
	}
	switch {
	case u.Name != "":
		return u, nil
	case more:
		return nil, apierrors.NewBadRequest(fmt.Sprintf("requested &user.DefaultInfo{Name:%q, UID:%q, Groups:%#v, Extra:%#v} without impersonating a user name",
			u.Name, u.UID, u.Groups, u.Extra))
	}
	return nil, nil
}
