// Package auditroles makes the smallest RBAC roles that allow the requests of users in an audit log.
//
// # Contract
//
//   - A [Log] is read from events in the format of kube-apiserver's JSON log (audit.k8s.io/v1), one a line. All requests
//     of an authenticated user count, allowed or not, and each once, at all its stages. A request with impersonation is
//     one of the impersonated user, and the impersonation one of the user itself.
//   - The roles of a user allow all its requests, each with the verb, the resource, the namespace and the name that were
//     authorized, and no others. Requests in a namespace are allowed by a Role, others by a ClusterRole.
//   - Members of system:masters need no role.
//   - The order of rules and names depends on the requests only, not on their order.
package auditroles
