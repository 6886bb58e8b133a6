// Package faults injects faults into a server, for tests and for learning: it holds, delays, reorders or closes
// watches, fails or slows writes, drops the watch history, and lets leases expire.
//
// A Set holds the faults in force. A server that is given one (server.Config.Faults) consults it wherever a fault
// may apply; a server without one has no fault injection. Each effect on an event or a request is recorded in the
// trace (trace.InjectedFault).
//
// # Selection
//
// Client selects clients: a user's name, the part of a name after its last colon ("replicaset-controller" for
// system:serviceaccount:kube-system:replicaset-controller), or the prefix of a user agent. Resource ("pods",
// "deployments.apps"), Namespace, Name and Verb select requests. An empty field selects everything. A fault with a
// Namespace does not apply to watches of all namespaces. Name applies only to writes and Leases, Verb only to
// writes.
//
// # Duration
//
// Hold, Delay, Reorder and Pause last until they are removed; the events withheld from a watch are then sent, in
// order. Fail and Slow apply to Times writes from the Nth on. Drop applies once, when it is added, as does Expire
// of the store's own leases.
//
// Expire of Leases (coordination.k8s.io) applies to the Leases that have a holder when it is added. From then on
// the holders' renewals fail, as if they were partitioned from the server, while their other writes succeed. Each
// Lease thus runs out when its own duration is over, by every observer's clock, and its content is never altered.
// The fault ends for a Lease once another client holds it or it is released. A node's Lease has no other candidate,
// so it stays expired until the fault is removed.
//
// # Concurrency
//
// All methods may be called from any goroutine. The query methods may be called on a nil *Set, which has no faults.
// While a Set has no fault, a query costs one atomic load.
package faults
