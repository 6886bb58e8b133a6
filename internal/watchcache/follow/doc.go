// Package follow passes the events of a store to the sinks of its resources.
//
// A [Follower] reads the store through one cursor, and each event goes to the [Sink] with the longest
// prefix of its key. The follower's revision advances when a whole batch has been applied to all
// sinks; readers wait for a revision with WaitFor. If the cursor breaks, the follower opens another
// one at the same revision. If the history in between is compacted by then, all sinks are loaded
// again.
//
// # Concurrency
//
// A follower has no goroutine. A call that needs a later revision applies the events itself, under
// the follower's lock, and so does the owner's goroutine by Feed. Sinks are called with that lock
// held; the store is called with it held, too, but for WaitFor's wait.
package follow
