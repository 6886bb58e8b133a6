// Package review implements the reviews of authentication.k8s.io and authorization.k8s.io, by which clients ask
// about users and their rights. Reviews are not stored.
//
// # Concurrency
//
// Every Func may be called from any goroutine.
package review
