// Package replicas keeps a number of equal pods alive: the engine under both
// ReplicaSet and ReplicationController, which differ in their types and in
// nothing that matters here. A Kind tells the engine how to read one and how to
// write its status.
//
// A pass over one object claims the pods that its selector matches, compares
// their number with the wish, creates or deletes the difference, and writes the
// status if it changed. What a pass has created or deleted and not yet seen in
// its cache is held as an expectation; until it is met, or has grown old, no
// pass creates or deletes again, so a stale cache never leads to twice the pods.
//
// # Concurrency
//
//  1. Passes over one object never overlap; passes over different ones do.
//  2. A pod's event reaches the expectations before the pass that it causes.
//  3. Events of one object that follow closely share a pass (podcontrol.Pace);
//     the event that meets the last expectation never waits.
package replicas
