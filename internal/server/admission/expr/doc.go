// Package expr compiles and evaluates the CEL expressions of admission: the match conditions of webhooks and all
// expressions of admission policies.
//
// A [Scope] holds the names that the expressions of one configuration can use: object, oldObject, request,
// namespaceObject; depending on [Options] also params, authorizer and the types of patches; and the variables
// defined in it, each of which can use the earlier ones. A [Run] is one evaluation of such expressions for one
// request. Its expressions share a budget, in CEL's units of cost. Variables are evaluated once, on first use.
//
// CEL is initialized with the first scope: a server without policies pays neither time nor memory for it.
//
// # Concurrency
//
// A Scope is built by one goroutine and then used by any. A Run belongs to one.
package expr
