// Package trace keeps the lives of events: when each passed which hop on its way
// from the request that made it to the writes that it brought about.
//
// # What is kept
//
// A Log is one process's record, a few rings of fixed size outside of the objects. Every
// change of a store has one revision, which is the resourceVersion that clients see,
// so a revision names an event wherever it is met: in the store, in the watch cache, on
// a stream, in an informer, in a controller. Each floor stamps what it has in hand:
//
//   - a life: the write's hops from Received to Cached, who asked for it, and why;
//   - a delivery: what one stream sent in one turn, a range of revisions;
//   - a sight: one event arriving in one informer;
//   - a work: one key's way through one controller, from the handler to the end of its
//     reconcile, with the revisions that put it into the queue.
//
// A work has a number that its writes carry in their request (Cause), and a life keeps
// the number of the work that made it. So events and works form a tree, and nothing has
// to be told to an event after the fact.
//
// # Time
//
// An Instant is nanoseconds of the monotonic clock since the Log was made; Log.Time
// makes a wall clock's time of it. Instants of two processes compare as well as their
// clocks do.
//
// # Concurrency
//
// All methods may be called from any goroutine, and on a nil *Log, which keeps nothing.
// A stamp is a lock, a few stores and no allocation; what it costs is in BenchmarkStamps.
// Reading copies what it returns.
package trace
