// Package faults breaks a server on purpose, for tests and for learning: it holds,
// delays, reorders or cuts off watches, fails or slows writes, forgets the history, and
// lets leases run out.
//
// A Set is what is broken now. A server that is given one (server.Config.Faults) asks it
// at each place where something may be broken; one that is given none cannot be broken.
// Whatever a fault does to an event or a request is entered in the trace (trace.Strike).
//
// # What is struck
//
// Client selects who: a user's name, what stands behind the last colon of one
// ("replicaset-controller" for system:serviceaccount:kube-system:replicaset-controller), or
// the beginning of a user agent. Resource ("pods", "deployments.apps"), Namespace, Name and
// Verb select what. Each of them selects all if it is empty; a watch of all namespaces
// is no watch of one. Name is about writes and Leases only, and Verb about writes.
//
// # How long
//
// Hold, Delay, Reorder and Pause are in force until they are removed; what a watch has
// been kept from comes then, in order. Fail and Slow strike the writes from the Nth on,
// Times of them, and do nothing after that. Drop strikes once, when it is added, and so does
// Expire of the store's own leases.
//
// Expire of Leases (coordination.k8s.io) is of those that somebody holds when it is added. Their
// holders' renewals fail from then on, whatever else they may write, as if they were cut off; so
// a Lease runs out when its own duration is over, by the clock of each who looks at it, and
// nothing in it is made up. Once another has it, or nobody, the fault is over for it. A
// node's nobody takes: it stays expired until the fault is removed.
//
// # Concurrency
//
// All methods may be called from any goroutine, and those that ask on a nil *Set, which
// breaks nothing. While a Set holds no fault, asking is one load.
package faults
