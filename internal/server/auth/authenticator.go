package auth

import (
	"net/http"
	"slices"
)

// Authenticator finds out who a request is from; see the package comment for
// what its three results mean.
type Authenticator interface {
	Authenticate(*http.Request) (*User, bool, error)
}

// AuthenticatorFunc is a function as an Authenticator.
type AuthenticatorFunc func(*http.Request) (*User, bool, error)

// Authenticate calls f.
func (f AuthenticatorFunc) Authenticate(r *http.Request) (*User, bool, error) { return f(r) }

// Union asks each in turn until one knows the user. If none does but some said
// that the credentials are wrong, the first such error is the answer.
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

// InProcess believes the user that WithUser put into the request's context. It
// stands first in a server's union, so that requests that never left the
// process need no credentials.
func InProcess() Authenticator {
	return AuthenticatorFunc(func(r *http.Request) (*User, bool, error) {
		u, ok := UserFrom(r.Context())
		return u, ok, nil
	})
}

// Anonymous takes every request for system:anonymous. It stands last, and
// outside of the Union of the others, for it must not hide their errors: use
// WithAnonymous.
func anonymous() *User {
	return &User{Name: AnonymousUser, Groups: []string{AllUnauthenticated}}
}

// WithAnonymous takes for system:anonymous who shows no credentials to a. Who
// shows wrong ones is still refused.
func WithAnonymous(a Authenticator) Authenticator {
	return AuthenticatorFunc(func(r *http.Request) (*User, bool, error) {
		u, ok, err := a.Authenticate(r)
		if ok || err != nil {
			return u, ok, err
		}
		return anonymous(), true, nil
	})
}

// authenticated adds system:authenticated, as every real user has it.
func Authenticated(u *User) *User {
	if u.InGroup(AllAuthenticated) || u.InGroup(AllUnauthenticated) {
		return u
	}
	c := *u
	c.Groups = append(slices.Clone(u.Groups), AllAuthenticated)
	return &c
}
