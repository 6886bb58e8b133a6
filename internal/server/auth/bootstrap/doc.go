// Package bootstrap has the objects of a new cluster.
//
// Objects returns them as a client would post them: without defaults, UID or status, with their apiVersion and kind
// set. At each start the server creates the missing ones and calls Reconcile for the others: roles and bindings get
// back missing rules, subjects and labels unless their annotation rbac.authorization.kubernetes.io/autoupdate is
// "false"; flow schemas and priority levels are reset unless apf.kubernetes.io/autoupdate-spec is "false"; the
// kubernetes service and its endpoints follow the server's address; API services managed by the server are reset.
// Additions by an administrator are never removed.
package bootstrap
