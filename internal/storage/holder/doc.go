// Package holder records in a store which process holds a Lease, for processes that share the store below their API servers.
//
// It adds two properties to an election by a Lease (package leader). Candidates learn within [TTL] that the holder has crashed or is
// cut off from the store, where the Lease alone would have them wait for its duration. And the store refuses the writes of a process
// that has been replaced as the holder, even if the process was paused and has not noticed yet: a fencing token, as in Kleppmann, "How
// to do distributed locking" (2016).
//
// A Lease has two keys in the store:
//
//   - holder is the identity of the process that won the Lease last, and the resourceVersion of that write. It is only replaced by
//     one with a higher resourceVersion. A process remembers the revision at which it wrote the key, and all that it writes as the
//     holder has the condition that the key is still at that revision. If a control plane has several stores, each has the key.
//   - alive has the same identity. It is bound to a lease of the store, which the process keeps alive, and so ends after it. No write depends
//     on it: a process whose alive key has ended by mistake goes on, and writes the key again.
//
// # Why two processes never write as the holder
//
// B works only after it has written the holder key in each store. From then on each transaction of A, which held the Lease before, fails in
// the store itself, even if A does not know of B, its request was on the way for minutes, or a clock is wrong. B reads all that A wrote
// before. A cannot write the holder key back: its resourceVersion is lower. Events are an exception: a client.Recorder writes them outside
// of the context of the work.
//
// # Concurrency
//
// All methods may be called from any goroutine.
package holder
