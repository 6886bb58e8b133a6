// Package expr compiles and runs the CEL expressions of admission: the conditions
// of webhooks and all that is in admission policies.
//
// A [Scope] is what the expressions of one configuration can name: object,
// oldObject, request, namespaceObject, and by [Options] params, authorizer and the
// types of patches; and the variables that were defined in it, each of which sees those
// before it. A [Run] is one evaluation of such expressions on one request. It has a
// budget, in CEL's units of cost, that all its expressions share; variables are computed
// when they are first used, and once.
//
// Nothing of CEL is set up before the first scope is asked for: a server without
// policies pays neither time nor memory for it.
//
// # Concurrency
//
// A Scope is built by one goroutine and then used by any. A Run belongs to one.
package expr
