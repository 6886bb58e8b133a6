// Package extension serves what CustomResourceDefinitions define. It keeps the
// set of kinds that a server serves, with their discovery and OpenAPI, at what
// the stored definitions say, and the definitions' status at what is served.
//
// # The life of a definition
//
// A write of a definition is answered when it has taken effect here: its names
// are accepted or not, endpoints, discovery and OpenAPI of its kind have been
// replaced together, and then NamesAccepted and Established are written into its
// status, in one write. So whoever sees Established finds the kind served. A
// definition that another server on the same store wrote takes effect when its event
// arrives, or earlier, with the first request that needs it: nothing is written by the
// rules of a definition that has been replaced, and nothing is shown by another one
// than that which stands before it in the log.
//
// Names belong to the definition that had them first, within its group: another
// that asks for one keeps the names it had, is told which one is taken, and gets
// it as soon as it is free.
//
// A definition that is deleted stays, with a finalizer and the condition
// Terminating, until its objects have gone: creates are refused, all objects are
// deleted as a client would delete them, and when the last one has gone, the
// finalizer is taken off.
//
// # Concurrency
//
//  1. Methods may be called from any goroutine. One at a time brings the served
//     set up to date; the others wait, and find it done.
//  2. [Extensions.Run] is one goroutine, which waits for events of definitions,
//     with one more for each definition that is being deleted.
//  3. Nothing that calls back into the server's verbs is done with the lock held:
//     statuses are written past admission.
package extension
