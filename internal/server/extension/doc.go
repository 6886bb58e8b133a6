// Package extension serves the kinds of CustomResourceDefinitions. It keeps the served kinds, with their discovery
// and OpenAPI, in line with the stored definitions, and the definitions' status in line with the served kinds.
//
// # The life of a definition
//
// A write of a definition returns when it has taken effect on this server: its names are accepted or rejected; the
// endpoints, discovery and OpenAPI of its kind have been replaced together; then NamesAccepted and Established are
// written into its status, in one write. A client that sees Established therefore finds the kind served. A
// definition written by another server on the same store takes effect when its event arrives, or earlier, with the
// first request that needs it. No request is served by a definition that had been replaced before, and every object
// shown follows the definition that precedes it in the log.
//
// Within a group, a name belongs to the first definition that claims it. Another definition that asks for the name
// keeps its own accepted names, has the conflict reported in its status, and gets the name once it is free.
//
// A deleted definition stays, with a finalizer and the condition Terminating, until its objects are gone: creates
// are refused, all objects are deleted as a client would delete them, and after the last one the finalizer is
// removed.
//
// # Concurrency
//
//  1. Methods may be called from any goroutine. One at a time brings the served
//     set up to date; the others wait for it.
//  2. [Extensions.Run] is one goroutine, which waits for events of definitions,
//     with one more for each definition that is being deleted.
//  3. No verb of the server is called with the lock held: statuses are written
//     past admission.
package extension
