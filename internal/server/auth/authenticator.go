package auth

import (
	"net/http"
	"slices"
)

// Authenticator identifies the user of a request. The package comment gives the meaning of its three results.
type Authenticator interface {
	Authenticate(*http.Request) (*User, bool, error)
}

// AuthenticatorFunc adapts a function to an Authenticator.
type AuthenticatorFunc func(*http.Request) (*User, bool, error)

// Authenticate calls f.
func (f AuthenticatorFunc) Authenticate(r *http.Request) (*User, bool, error) { return f(r) }

// Union returns an Authenticator that asks each of list in turn until one knows the user. If all fail, the first
// error, which means invalid credentials, is returned.
func Union(list ...Authenticator) Authenticator { return union(slices.Clone(list)) }

type union []Authenticator

func (u union) Authenticate(r *http.Request) (*User, bool, error) {
	var first error
	for _, a := range u {
		user, ok, err := a.Authenticate(r)
		if ok {
			return user, true, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, false, first
}

// InProcess trusts the user that WithUser put into the request's context. It is the first of a server's union, so
// that requests from inside the process need no credentials.
func InProcess() Authenticator {
	return AuthenticatorFunc(func(r *http.Request) (*User, bool, error) {
		u, ok := UserFrom(r.Context())
		return u, ok, nil
	})
}

// anonymous returns the user of a request without credentials. It is added outside of the Union, which must report
// errors of the others first: use WithAnonymous.
func anonymous() *User {
	return &User{Name: AnonymousUser, Groups: []string{AllUnauthenticated}}
}

// WithAnonymous makes a request without credentials for a one of system:anonymous, at the paths only if there are any.
// Invalid credentials are still refused.
func WithAnonymous(a Authenticator, paths ...string) Authenticator {
	paths = slices.Clone(paths)
	return AuthenticatorFunc(func(r *http.Request) (*User, bool, error) {
		u, ok, err := a.Authenticate(r)
		if ok || err != nil || len(paths) > 0 && !slices.Contains(paths, r.URL.Path) {
			return u, ok, err
		}
		return anonymous(), true, nil
	})
}

// Authenticated adds the group system:authenticated, which every identified user has.
func Authenticated(u *User) *User {
	if u.InGroup(AllAuthenticated) || u.InGroup(AllUnauthenticated) {
		return u
	}
	c := *u
	c.Groups = append(slices.Clone(u.Groups), AllAuthenticated)
	return &c
}
