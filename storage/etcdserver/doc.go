// Package etcdserver serves a storage.Store as etcd v3: over gRPC the services KV,
// Watch, Lease, Maintenance and Cluster, and over HTTP, on the same port, /health,
// /livez, /readyz and /version.
//
// # What a client finds
//
// An etcd 3.7 cluster of one member, with etcd's answers and etcd's errors, word
// by word. What is different:
//
//   - History is compacted by the store, by age, whether or not clients compact.
//   - A watch from exactly the revision of the last compaction is cancelled as
//     compacted; etcd would replay what is left of that revision.
//   - A transaction that puts a key and deletes it, by a range without an end or by
//     one whose end is before its start, is refused for its duplicate key; etcd
//     refuses that of proper ranges only.
//   - There are no users: Auth answers as an etcd in which authentication is not
//     enabled, and cannot be enabled. TLS client certificates guard the port.
//   - The cluster has one member and cannot grow; snapshots are the way to move.
//   - What a watch has missed comes in answers of about a megabyte, each of whole
//     transactions; etcd sends one answer, however large, unless it may fragment it.
//   - There is no quota of space, and metadata that asks for a leader asks for nothing.
//   - A RangeStream that names what to sort by, and no order, sends what a Range of the
//     same kind does; etcd puts each piece in order, wherever it cut them, and goes on
//     after the last of that.
//   - Leases have positive IDs; etcd takes negative ones too.
//   - Hash and HashKV are sums of what is stored, not of etcd's file, and are only
//     comparable among themselves.
//
// # How a transaction is mapped
//
// The store takes transactions of the form "if these keys are at these revisions
// then write". A Txn of etcd compares other things, may be nested, and answers
// reads from the middle of itself. So its comparisons are decided on one revision,
// and what they have read becomes the condition of the commit: if any of it has
// changed meanwhile, it is decided again. The transactions of Kubernetes compare
// nothing but revisions and go through without that first read.
//
// What a transaction has to answer about itself (previous values, deleted keys,
// ranges between its writes) is read after it: revisions have no gaps, so what it
// found is the state at the revision before its own, and its own writes are laid
// over that one after the other.
//
// # Concurrency
//
//  1. A Server is safe for any goroutine. Requests are answered by gRPC's
//     goroutines and share nothing but the store.
//  2. A watch stream is two goroutines, one that receives and one that owns all
//     watches of the stream and sends (and a small one per watch to carry its bell,
//     if the store's cursors are no storage.Ringers). Slow readers hold up their own stream and nothing else, and no event
//     is queued for them: a watch is a cursor.
//  3. What a watch yields is in revision order, without gaps, and a transaction is
//     never split but into fragments, if the client allows them.
package etcdserver
