// Package abac authorizes requests by a file of policies, as kube-apiserver's authorizer ABAC does (attribute-based access
// control).
//
// # Contract
//
// The file has one policy in each line, in JSON; blank lines and lines that begin with # are left out. A policy allows requests
// of its user or its group; it cannot forbid any. It is of version v1beta1 of abac.authorization.kubernetes.io, or, without a
// version, of the older form in which fields that are left out stand for all. The file is read once.
//
// # Concurrency
//
// [Policies] do not change, and may be used from any goroutine.
package abac
