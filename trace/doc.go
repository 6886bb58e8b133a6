// Package trace records the lives of events: the time of each hop from the request that
// made an event to the writes that it caused.
//
// # Records
//
// A Log is one process's record, a few rings of fixed size outside the objects. Every
// change of a store has one revision, the resourceVersion that clients see. So a revision
// identifies an event everywhere: in the store, in the watch cache, on a stream, in an
// informer, in a controller. Each layer records its part:
//
//   - a life: the write's hops from Received to Cached, its user, and its causes;
//   - a delivery: the events that one stream sent in one flush, a range of revisions;
//   - an arrival: one event that reached one informer;
//   - a reconcile: one key's way through one controller, from the handler to the end of
//     its reconcile, with the revisions that queued the key.
//
// A reconcile has a number, which its writes carry in their requests (Parent), and a life
// keeps the number of the reconcile that made it. So events and reconciles form a tree, and
// no entry has to be changed later.
//
// # Time
//
// An Instant is nanoseconds of the monotonic clock since the Log was made; Log.Time
// converts it to wall clock time. Instants of two processes can be compared as exactly as
// their clocks agree.
//
// # Concurrency
//
// All methods may be called from any goroutine, and on a nil *Log, which is disabled.
// Recording takes a lock, a few stores and no allocation; BenchmarkStamps measures it.
// Readers get copies.
package trace
