package server

import "fairlead.dev/internal/server/auth"

// User is the authenticated user of a request.
type User = auth.User

// Authenticator identifies the user of a request: ok is false if the request has no credentials that it knows,
// and an error means that the credentials are invalid (401). It must be safe for concurrent use.
type Authenticator = auth.Authenticator

// AuthenticatorFunc adapts a function to an Authenticator.
type AuthenticatorFunc = auth.AuthenticatorFunc

// Attributes describe a request to an Authorizer.
type Attributes = auth.Attributes

// Decision is the answer of an Authorizer.
type Decision = auth.Decision

// The decisions. A request is allowed by Allow only; an Authorizer that asks others goes on after NoOpinion and stops at
// Deny.
const (
	NoOpinion = auth.NoOpinion
	Allow     = auth.Allow
	Deny      = auth.Deny
)

// Authorizer decides whether a request is allowed. The reason is part of the message of a 403. It must be safe for
// concurrent use.
type Authorizer = auth.Authorizer

// AuthorizerFunc adapts a function to an Authorizer.
type AuthorizerFunc = auth.AuthorizerFunc
