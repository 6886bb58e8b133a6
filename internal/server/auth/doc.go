// Package auth authenticates and authorizes requests.
//
// # Contract
//
//   - An Authenticator examines a request and returns one of three results: a
//     user; no user and no error (ok is false) if the request has no credentials
//     of its kind, in which case the next one is asked; or an error if the
//     credentials are invalid, in which case the request ends with 401
//     whatever the others would return.
//   - An Authorizer allows or denies Attributes, or has no opinion. A decision
//     has a reason only if there is one worth reporting. An error without a
//     permission means that the decision is uncertain: the request is refused.
//   - A User never changes once it is in a context.
//
// The packages below implement them: cert (client certificates), token (static and service account tokens), rbac
// (roles and bindings), nodes (kubelets), review (the review kinds of authentication.k8s.io and
// authorization.k8s.io) and bootstrap (the objects of a new cluster).
//
// # Concurrency
//
// Every Authenticator and Authorizer here may be used from any goroutine.
package auth
