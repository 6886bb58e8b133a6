// Package etcd is the storage.Store that stands on an etcd cluster, 3.5 or later.
//
// The contract is etcd's own data model, so little is translated: a Commit is one transaction of
// the cluster, a Range a few linearizable reads of one revision, a Cursor one watch. Keys and
// values are stored unchanged, so with the prefix /registry the cluster is laid out as by
// kube-apiserver.
//
// # Consistent reads of a copy
//
// A copy of the store, such as a watch cache, reads the current state in two steps, however many
// processes write to the cluster. Current asks a majority for the current revision; concurrent
// callers share one request, which waits up to 2 ms for those that shared the last one. Then the
// copy must reach that revision. If the last writes concerned it, they are on their way; otherwise
// no event would come, so Cursor.Want requests progress from the member that feeds the cursor,
// repeatedly, because the member may itself be behind the majority, and does not answer a request
// while the watch is behind.
//
// # Failures
//
//   - A failed member, or a change of leader: reads and watches continue on another member; they
//     are repeated until the timeout. A write in progress fails with ErrUnavailable, unless it is
//     certain that no member began with it.
//   - A hanging member with open connections: reads are tried on another member after a third of
//     the timeout, cursors after 2 seconds if their progress is wanted. Writes, and cursors
//     without a waiting reader, notice when the connection is given up, after at most 15 seconds.
//   - A lost majority, or a member cut off from it: reads and writes fail with ErrUnavailable
//     after the timeout. Cursors stay, deliver no events, and continue at the same revision when
//     there is a majority again.
//   - Compaction: a cursor whose watch is open has been fed the events that it needs. A cursor
//     that was full, or whose watch broke, and that then finds the history after its progress
//     compacted, fails with ErrCompacted, even if its keys were not written meanwhile: the cluster
//     cannot tell.
//   - A cluster without space refuses writes: ErrNotWritten.
//
// # Limits
//
// An answer of the cluster holds at most 1000 keys; longer ranges are put together from several,
// all of one revision. An open cursor holds up to Options.Buffer unread, and beyond that closes its
// watch until it is read. A transaction may have 128 operations and 128 conditions, and 1.5 MiB,
// unless the cluster is configured otherwise; more is ErrInvalid and ErrTooLarge.
//
// # Concurrency
//
//  1. Store and its methods are safe for any goroutine; a Cursor belongs to one.
//  2. Revision, Compacted and Next never wait for the cluster; Watch waits until the
//     cluster has taken it up.
//  3. Lock order: rounds.mu, Store.mu, cursor.mu. No goroutine waits for the cluster with one of
//     them held.
//
// The goroutines of a Store, beside the client's own:
//
//	pump       feeds one cursor                        until it ends
//	rounds     asks for the present revision           while readers wait
//	compactor  compacts once per Options.History       until Close
package etcd
