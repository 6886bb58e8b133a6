// Package replicas maintains a number of equal pods: it is the common part of ReplicaSet and ReplicationController,
// which differ only in their types. A Kind adapts the engine to one of them.
//
// A pass over one object claims the pods that its selector matches, compares their number with the desired one,
// creates or deletes the difference, and writes the status if it has changed. Pods that a pass has created or
// deleted and that are not yet in the cache are recorded as expectations; until these are met, or have expired, no
// pass creates or deletes again, so a stale cache never leads to duplicate pods.
//
// # Concurrency
//
//  1. Passes over one object never overlap; passes over different ones do.
//  2. A pod's event reaches the expectations before the pass that it causes.
//  3. Events of one object that follow closely share a pass (podcontrol.Pace);
//     the event that meets the last expectation is never delayed.
package replicas
