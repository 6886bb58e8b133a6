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

// Impersonate answers as whom a request is to be served: as its user, or, if it has
// Impersonate- headers and the user may act as what they name, as that. In that case
// the headers are taken off the request. asked is what the request wants to do, by its
// user: an impersonation may be allowed for some requests only (KEP-5284). A user that
// may not impersonate gets a *Denied error; headers that make no sense a BadRequest
// status error.
func Impersonate(ctx context.Context, r *http.Request, asked Attributes, a Authorizer) (*User, error) {
	if !hasPrefix(r.Header, "Impersonate-") {
		return asked.User, nil
	}
	wanted, err := wantedUser(r.Header)
	if err != nil {
		return nil, err
	}
	if wanted == nil {
		return asked.User, nil
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
			return u, nil
		}
		if first == nil {
			first = denied
		}
	}
	return nil, first
}

// Denied is a refusal, which the server words for the client.
type Denied struct {
	Attributes Attributes
	Reason     string
}

// Error implements error.
func (d *Denied) Error() string { return ForbiddenMessage(d.Attributes, d.Reason) }

// hasPrefix says whether any header's name begins so.
func hasPrefix(h http.Header, prefix string) bool {
	for name := range h {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// wantedUser reads the headers as they are; nil if they name nobody.
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
