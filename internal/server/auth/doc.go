// Package auth says who a request is from and whether it may be done.
//
// # The contract
//
//   - An Authenticator looks at a request and answers one of three things: this
//     user; nothing here that I know (ok false, no error), so ask the next; or
//     an error, which means that credentials were shown and are wrong, and the
//     request ends with 401 whatever the others would say.
//   - An Authorizer answers yes or no to Attributes; a no has a reason only if
//     there is something to tell. An error with a no means that the answer is
//     not certain; it is still a no.
//   - A User is never changed once it is in a context.
//
// The packages below hold the ways to do it: cert (client certificates), token
// (static and service account tokens), rbac (roles and bindings), nodes (kubelets), review (the
// API kinds that ask these questions over the wire) and bootstrap (the objects
// a cluster starts with).
//
// # Concurrency
//
// Every Authenticator and Authorizer here may be used from any goroutine.
package auth
