// Package etcd is the storage.Store that stands on an etcd cluster, 3.5 or later.
//
// The contract is etcd's own data model, so little is translated: a Commit is one
// transaction of the cluster, a Range a few linearizable reads of one revision, a
// Cursor one watch. Keys and values lie in the cluster as they are, so with the
// prefix /registry it is laid out as kube-apiserver lays it out.
//
// # Consistent reads of a copy
//
// Whoever keeps a copy of the store, as a watch cache does, reads the present in
// two steps, however many processes write to the cluster. Current asks a majority
// for the present revision, and all who ask at the same time share one question.
// Then the copy has to come up to that revision. If the last writes concerned it,
// they are on their way; if not, nothing would come: so Cursor.Want requests
// progress of the member that feeds the cursor, again and again until it is
// there, for the member may itself be behind the majority, and leaves a request
// unanswered while the watch is.
//
// # What fails how
//
//   - A member that fails, or a change of leader: reads and watches go on, on
//     another member; they are repeated until the timeout. A write that was under
//     way fails with ErrUnavailable, unless it is certain that no member began
//     with it.
//   - A member that hangs, its connections open: reads are tried elsewhere after a
//     third of the timeout, cursors after 2 seconds if anybody wants to know how
//     far they are. Writes, and cursors that nobody waits for, find out when the
//     connection is given up, after 15 seconds at most.
//   - A lost majority, or a member cut off from it: reads and writes fail with
//     ErrUnavailable after the timeout. Cursors stay, deliver nothing, and go on
//     where they stood when there is a majority again.
//   - Compaction: a cursor whose watch is open has been fed what it needs. One
//     that was full, or whose watch broke, and that then finds the history after
//     its progress compacted, fails with ErrCompacted, even if none of its keys
//     was written meanwhile: the cluster cannot tell.
//   - A cluster without space refuses writes: ErrNotWritten.
//
// # What it bounds
//
// An answer of the cluster holds 1000 keys at most; longer ranges are put together
// from several, all of one revision. An open cursor holds up to Options.Buffer
// unread, and beyond that lets go of its watch until it is read. A transaction
// may have 128 operations and 128 conditions, and 1.5 MiB, unless the cluster is
// configured otherwise; more is ErrInvalid and ErrTooLarge.
//
// # Concurrency
//
//  1. Store and its methods are safe for any goroutine; a Cursor belongs to one.
//  2. Revision, Compacted and Next never wait for the cluster; Watch waits until the
//     cluster has taken it up.
//  3. Lock order: rounds.mu, Store.mu, cursor.mu. Nothing waits for the cluster with
//     one of them held.
//
// The goroutines of a Store, beside the client's own:
//
//	pump       feeds one cursor                        until it ends
//	rounds     asks for the present revision           until nobody asks
//	compactor  compacts once per Options.History       until Close
package etcd
