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

// Impersonate answers as whom a request is to be served: as user itself, or,
// if the request has Impersonate- headers and user may act as what they name,
// as that. In that case the headers are taken off the request. A user that may
// not gets a *Denied error; headers that make no sense a BadRequest status
// error.
func Impersonate(ctx context.Context, r *http.Request, user *User, a Authorizer) (*User, error) {
	if !hasPrefix(r.Header, "Impersonate-") {
		return user, nil
	}
	wanted, err := impersonated(r.Header)
	if wanted == nil || err != nil {
		return user, err
	}
	for _, at := range wanted.asks {
		at.User, at.Verb, at.IsResource = user, "impersonate", true
		if ok, reason, err := a.Authorize(ctx, at); !ok || err != nil {
			return nil, &Denied{Attributes: at, Reason: reason}
		}
	}
	for name := range r.Header {
		if strings.HasPrefix(name, "Impersonate-") {
			r.Header.Del(name)
		}
	}
	u := wanted.user
	switch {
	case u.Name == AnonymousUser:
		if !u.InGroup(AllUnauthenticated) {
			u.Groups = append(u.Groups, AllUnauthenticated)
		}
		return &u, nil
	default:
		return Authenticated(&u), nil
	}
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

type impersonation struct {
	user User
	asks []Attributes
}

// impersonated reads the headers; nil if there are none.
func impersonated(h http.Header) (*impersonation, error) {
	name := h.Get(authenticationv1.ImpersonateUserHeader)
	groups := h.Values(authenticationv1.ImpersonateGroupHeader)
	w := &impersonation{user: User{Name: name, Extra: map[string][]string{}}}
	if namespace, account, ok := SplitServiceAccount(name); ok {
		w.asks = append(w.asks, Attributes{Resource: "serviceaccounts", Version: "v1", Namespace: namespace, Name: account})
		if len(groups) == 0 {
			w.user.Groups = ServiceAccountGroups(namespace)
		}
	} else if name != "" {
		w.asks = append(w.asks, Attributes{Resource: "users", Version: "v1", Name: name})
	}
	for _, g := range groups {
		w.asks = append(w.asks, Attributes{Resource: "groups", Version: "v1", Name: g})
		w.user.Groups = append(w.user.Groups, g)
	}
	for header, values := range h {
		key, ok := strings.CutPrefix(header, authenticationv1.ImpersonateUserExtraHeaderPrefix)
		if !ok {
			continue
		}
		key = strings.ToLower(key)
		if plain, err := url.PathUnescape(key); err == nil {
			key = plain
		}
		for _, v := range values {
			w.asks = append(w.asks, Attributes{
				Group: authenticationv1.GroupName, Version: "v1",
				Resource: "userextras", Subresource: key, Name: v,
			})
			w.user.Extra[key] = append(w.user.Extra[key], v)
		}
	}
	if uid := h.Get(authenticationv1.ImpersonateUIDHeader); uid != "" {
		w.asks = append(w.asks, Attributes{Group: authenticationv1.GroupName, Version: "v1", Resource: "uids", Name: uid})
		w.user.UID = uid
	}
	switch {
	case len(w.asks) == 0:
		return nil, nil
	case name == "":
		return nil, apierrors.NewBadRequest(fmt.Sprintf("requested %v without impersonating a user", names(w.asks)))
	}
	return w, nil
}

func names(asks []Attributes) []string {
	var list []string
	for _, a := range asks {
		list = append(list, a.Resource+" "+a.Name)
	}
	return list
}
