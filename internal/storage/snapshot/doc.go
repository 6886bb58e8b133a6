// Package snapshot takes a storage.Store into one file and out of it again, online
// and consistent: all keys as of one revision, with the leases they are bound to.
//
// # Format
//
// The format is etcd's own, so that a snapshot of etcd restores here and one from
// here restores in etcd (etcdutl snapshot restore): a bbolt database, followed by
// its checksum.
//
//	bytes      meaning
//	n * 512    a bbolt database, in pages of the machine that wrote it
//	32         SHA-256 of all before
//
// In the database:
//
//	bucket  key                    value
//	key     revision (17 bytes)    mvccpb.KeyValue: one put; the value's mod_revision
//	                               is the main part of the revision
//	key     revision, 't'          mvccpb.KeyValue with the key only: one deletion
//	lease   ID (8, big-endian)     leasepb.Lease: 1 = ID, 2 = TTL in seconds, as varints
//	meta    finishedCompactRev     revision of the last compaction (17)
//	meta    scheduledCompactRev    the same
//	meta    consistent_index       8 bytes, big-endian
//	meta    term                   8 bytes, big-endian
//
// where a revision is
//
//	offset  bytes  meaning
//	0       8      main: the revision, big-endian
//	8       1      '_'
//	9       8      sub: place within the transaction, from 0, big-endian
//
// A snapshot written here holds one put per existing key, and is compacted at its own revision: it
// has no history. The place within a transaction is not kept; keys of one revision are numbered in
// order. etcd's other buckets are there and empty. A snapshot that is read may also hold history,
// as etcd's do; the last version of each key counts.
//
// # Concurrency
//
// All functions are for any goroutine. Taking a snapshot delays no other operation: it reads one
// revision, which fails with storage.ErrCompacted only if it takes longer than history is kept.
package snapshot
