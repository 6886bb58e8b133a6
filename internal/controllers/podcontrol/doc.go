// Package podcontrol has the common parts of controllers that own pods: which pods count as active, ready and
// available; the index from an owner's UID to its pods; creation from a template with a controller reference;
// adoption and release by selector; the order in which surplus pods are deleted; deletion with the condition
// DisruptionTarget; and batches that start small.
//
// This package keeps no state of its own. A controller gets the pods it owns from the shared informer's index,
// claims them, decides, and writes; controller.Expectations tracks writes that are not yet in the cache.
//
// Objects handed out by informers are shared. No function here modifies one, and pods built from a template share
// the template's memory until they are encoded: treat them as read-only.
//
// # Concurrency
//
//  1. Functions are pure unless they take a context, and may be called from
//     any goroutine.
//  2. A Control is immutable after New and safe for concurrent use.
//  3. Batches call their function from several goroutines at once, never more
//     than maxInFlight, and return only after every call has returned.
package podcontrol
