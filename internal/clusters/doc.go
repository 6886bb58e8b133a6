// Package clusters hosts control planes in one server. Each Cluster object of the server is a control plane in memory, at
// the path /clusters/NAME/ of the server's URL, with its own users, RBAC, controllers, nodes and quota of storage.
//
// # The API
//
// Cluster is a kind of the group fairlead.dev, without a namespace, defined by the CustomResourceDefinition
// clusters.fairlead.dev. Creating an object starts a control plane: an empty one, or with spec.from a fork of another one,
// which begins with its objects, UIDs and revisions. Raising spec.resets brings it back to the state in which it began. The
// condition Ready reports that it answers; then the Secret NAME of the namespace fairlead-clusters has its kubeconfig.
// Deleting the object ends the control plane. A control plane ends with the server's process, whose next start deletes its
// Cluster.
//
// # Isolation
//
// A control plane has keys of its own: no other one accepts certificates and tokens that it has issued. A fork accepts
// those that its origin had issued, so that a user of the origin is one of the fork, too; the origin does not accept the
// fork's. The server's own users have no rights inside, except in a fork of the server itself.
//
// # Concurrency
//
// A Host is safe for concurrent use. Requests reach a control plane without a lock.
package clusters
