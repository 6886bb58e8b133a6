// Package review answers the kinds that ask the server itself who somebody is
// and what they may do: the reviews of authentication.k8s.io and
// authorization.k8s.io. Nothing of them is stored.
//
// # Concurrency
//
// Every Func may be called from any goroutine.
package review
