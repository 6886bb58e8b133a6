// Package bootstrap holds the objects a cluster starts with.
//
// Objects returns them as a client would post them: without defaults, UID or
// status, with their apiVersion and kind set. At each start the server creates
// those that are missing, and lets Reconcile say what of the others has to
// change: roles and bindings get back the rules, subjects and labels they lack,
// unless their annotation rbac.authorization.kubernetes.io/autoupdate is
// "false"; flow schemas and priority levels are set back unless
// apf.kubernetes.io/autoupdate-spec is "false"; the kubernetes service and its endpoints
// follow the server's address; API services that the server keeps are set back. Nothing is ever taken away from an object that
// an administrator added to.
package bootstrap
