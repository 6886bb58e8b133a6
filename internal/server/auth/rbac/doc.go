// Package rbac authorizes by roles and bindings.
//
// A Policy is an immutable index of the roles and bindings of one moment by subject. An Authorizer holds the
// present Policy and builds a new one at the first request after its Source reports a change. Otherwise a decision
// costs a few map look-ups and a walk over the user's rules.
//
// # Aggregated cluster roles
//
// The rules of a ClusterRole with an aggregationRule are the rules of the cluster roles that its selectors match.
// Upstream, a controller writes them into the object, and the authorizer reads them there. Here a Policy joins them
// itself, so that a new part counts at once, without a controller. The rules in the object are for readers only
// (bootstrap writes those of the initial roles, and the clusterrole-aggregation controller maintains them).
//
// # Concurrency
//
// All methods may be called from any goroutine.
package rbac
