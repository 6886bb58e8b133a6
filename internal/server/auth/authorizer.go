package auth

import (
	"context"
	"slices"
	"strings"
)

// Attributes describe the request to be authorized. For a resource, IsResource is true and Path may be empty; for
// any other request only User, Verb (the HTTP method in lower case) and Path count.
type Attributes struct {
	User                  *User
	Verb                  string
	Group, Version        string
	Resource, Subresource string
	Namespace, Name       string
	Path                  string
	IsResource            bool
	// Fields is the field selector of a list, a watch or a deletecollection, in the form of the query parameter,
	// or "".
	Fields string
}

// Authorizer decides whether a request is allowed.
type Authorizer interface {
	Authorize(ctx context.Context, a Attributes) (ok bool, reason string, err error)
}

// AuthorizerFunc adapts a function to an Authorizer.
type AuthorizerFunc func(ctx context.Context, a Attributes) (bool, string, error)

// Authorize calls f.
func (f AuthorizerFunc) Authorize(ctx context.Context, a Attributes) (bool, string, error) {
	return f(ctx, a)
}

// AllowAll allows everything, for tests.
var AllowAll Authorizer = AuthorizerFunc(func(context.Context, Attributes) (bool, string, error) {
	return true, "", nil
})

// Privileged allows system:masters everything and asks a for other users.
func Privileged(a Authorizer) Authorizer {
	return AuthorizerFunc(func(ctx context.Context, at Attributes) (bool, string, error) {
		if at.User != nil && at.User.InGroup(MastersGroup) {
			return true, "", nil
		}
		return a.Authorize(ctx, at)
	})
}

// AnyOf returns an Authorizer that asks each of list in turn until one allows the request. If all deny it, it returns
// all reasons and the first error.
func AnyOf(list ...Authorizer) Authorizer {
	list = slices.Clone(list)
	return AuthorizerFunc(func(ctx context.Context, a Attributes) (bool, string, error) {
		var reasons []string
		var first error
		for _, z := range list {
			ok, reason, err := z.Authorize(ctx, a)
			if ok {
				return true, reason, nil
			}
			if reason != "" {
				reasons = append(reasons, reason)
			}
			if first == nil {
				first = err
			}
		}
		return false, strings.Join(reasons, "\n"), first
	})
}
