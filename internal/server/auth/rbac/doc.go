// Package rbac answers by roles and bindings.
//
// A Policy is the roles and bindings of one moment, indexed by subject; it
// never changes. An Authorizer holds the present Policy and makes a new one
// when its Source says that a role or a binding has changed, at the first
// question after the change. Between changes an answer costs a few map
// look-ups and a walk over the rules that the user has.
//
// # Aggregated cluster roles
//
// The rules of a ClusterRole with an aggregationRule are the rules of the
// cluster roles that its selectors match. Upstream lets a controller write them
// into the object and authorizes by what is written there. Here a Policy joins
// them itself, so that a new part counts at once and with no controller; what
// stands in the object's rules is for readers only (bootstrap writes it for the
// roles of the start, the clusterrole-aggregation controller keeps it).
//
// # Concurrency
//
// All methods may be called from any goroutine.
package rbac
