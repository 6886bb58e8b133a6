// Package etcdserver serves a storage.Store as etcd v3: over gRPC the services KV,
// Watch, Lease, Maintenance and Cluster, and over HTTP, on the same port, /health,
// /livez, /readyz and /version.
//
// # The cluster as clients see it
//
// An etcd 3.7 cluster of one member, with etcd's answers and etcd's errors, word for word. The
// differences:
//
//   - History is compacted by the store, by age, whether or not clients compact.
//   - A watch from exactly the revision of the last compaction is cancelled as compacted; etcd
//     would replay the rest of that revision.
//   - A transaction that puts a key and deletes it, by a range without an end or by
//     one whose end is before its start, is refused for its duplicate key; etcd
//     refuses that of proper ranges only.
//   - There are no users: Auth answers as an etcd in which authentication is not enabled, and
//     cannot be enabled. TLS client certificates guard the port.
//   - The cluster has one member and cannot grow; snapshots are the way to move.
//   - The backlog of a watch comes in answers of about a megabyte, each of whole transactions;
//     etcd sends one answer, however large, unless it may fragment it.
//   - There is no quota of space, and the metadata that requires a leader has no effect.
//   - A RangeStream with a sort target but no order sends the keys of a Range of the same kind;
//     etcd sorts each piece by itself, wherever it cut them, and continues after the last key of
//     that.
//   - Leases have positive IDs; etcd takes negative ones too.
//   - Hash and HashKV are checksums of the stored keys, not of etcd's file, and are only
//     comparable among themselves.
//
// # How a transaction is mapped
//
// The store takes transactions of the form "if these keys are at these revisions then write". A Txn
// of etcd compares other properties, may be nested, and answers reads from its own middle. So its
// comparisons are decided on one revision, and the keys they have read become the condition of the
// commit: if any of them has changed meanwhile, it is decided again. The transactions of Kubernetes
// compare only revisions and go through without that first read.
//
// The answers of a transaction about itself (previous values, deleted keys, ranges between its
// writes) are read after it: revisions have no gaps, so the state before it is that of the previous
// revision, and its own writes are laid over that one after the other.
//
// # Concurrency
//
//  1. A Server is safe for any goroutine. Requests are answered by gRPC's goroutines and share
//     only the store.
//  2. A watch stream is two goroutines, one that receives and one that owns all watches of the
//     stream and sends (and a small one per watch that relays its bell, if the store's cursors are
//     no storage.Ringers). Slow readers delay only their own stream, and no event is queued for
//     them: a watch is a cursor.
//  3. The events of a watch are in revision order, without gaps, and a transaction is never split
//     except into fragments, if the client allows them.
package etcdserver
