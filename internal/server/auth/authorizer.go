package auth

import "context"

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
	// Fields and Labels are the selectors of a list, a watch or a deletecollection, in the form of the query parameters,
	// or "".
	Fields, Labels string
}

// Decision is the answer of an Authorizer.
type Decision int

const (
	// NoOpinion leaves the decision to other authorizers. A request that no authorizer allows is forbidden.
	NoOpinion Decision = iota
	// Allow allows the request, and Deny forbids it, whatever authorizers that come later would say.
	Allow
	Deny
)

// AllowIf returns Allow if ok is true, and NoOpinion otherwise.
func AllowIf(ok bool) Decision {
	if ok {
		return Allow
	}
	return NoOpinion
}

// Authorizer decides whether a request is allowed.
type Authorizer interface {
	Authorize(ctx context.Context, a Attributes) (d Decision, reason string, err error)
}

// AuthorizerFunc adapts a function to an Authorizer.
type AuthorizerFunc func(ctx context.Context, a Attributes) (Decision, string, error)

// Authorize calls f.
func (f AuthorizerFunc) Authorize(ctx context.Context, a Attributes) (Decision, string, error) {
	return f(ctx, a)
}

// AllowAll allows everything.
var AllowAll Authorizer = AuthorizerFunc(func(context.Context, Attributes) (Decision, string, error) {
	return Allow, "", nil
})

// Privileged allows system:masters everything and asks a for other users.
func Privileged(a Authorizer) Authorizer {
	return AuthorizerFunc(func(ctx context.Context, at Attributes) (Decision, string, error) {
		if at.User != nil && at.User.InGroup(MastersGroup) {
			return Allow, "", nil
		}
		return a.Authorize(ctx, at)
	})
}
