// Package local is the embedded storage.Store: all keys in memory, and Pebble under it as the
// durable log.
//
// # How it works
//
// A key is a chain of versions, the newest first, and every version is also an event of the log.
// Both are the same struct, so each is stored once.
//
//	tree (B-tree, copy-on-write)       log (segments of 512, by sequence number)
//	  "/registry/pods/default/a" ──▶ v7 ──▶ v4 ──▶ v2
//	                                  ▲      ▲      ▲
//	                                 [6]    [3]    [1]
//
// Readers load one pointer to the published state (revision, tree, log) and walk without a lock,
// skipping versions that are newer than the revision they read at. A write to an existing key does
// not touch the tree at all: it puts a version on the chain. Only a new key copies a path of the
// tree, once per group.
//
// A commit waits in a queue. The former tries all queued commits against the newest chains and
// gathers them in a group; the writer makes the group durable with one batch and one sync, and
// publishes it. While the writer syncs, the former continues with the next group, so the more
// writers wait, the more commits share a sync. Versions that are not durable yet sit on the chains
// with a revision at which no reader reads.
//
// A cursor is two sequence numbers, the first and the last event it has not read. Publishing finds
// the cursors that an event concerns (by hash for a cursor on one key; by trying the distinct
// ranges, of which there are few) and marks the numbers before the events can be seen. A cursor
// without a mark is at the end of the log, even after compactions, and has no cost.
//
// Compaction up to r needs no walk over the keys: each event up to r superseded at most one
// version, so the dropped part of the log lists all versions to drop. It runs by itself when
// history grows old, see Options.History.
//
// # Parts
//
// The chains, the tree and the log are package internal/storage/mvcc, the records on disk package
// internal/storage/engine. Here, from the bottom up, each part knows only those before it:
//
//	position   where a cursor stands, and its bell
//	bells      the positions that a group of events concerns
//	published  the state that readers see; read.go and cursor.go read it
//	failure    the first failed write, which makes the store read-only
//	queue      the calls that no group has taken yet
//	working    the state that commits are tried against
//	packer     packs superseded versions, and those that have not changed for some time
//	lessor     ends expired leases
//	times      when revisions were committed
//	compactor  drops history, and knows the garbage that it leaves
//	cleaner    frees the space of the garbage
//	committer  tries, writes and publishes groups
//	upkeep     the goroutines of the compactor and the cleaner
//	Store      assembles them
//
// # Concurrency
//
//  1. Store and its methods are safe for any goroutine; a Cursor belongs to one.
//  2. Range, Revision, Compacted and Next never wait for a writer or for the
//     disk. Next takes the lock of its cursor, Range no lock.
//  3. Revisions are published one group after the other, in order; a state once published never
//     changes. Chains are only added to at the head, and cut at the tail after the new bound of
//     compaction is published, so a reader that walked a cut chain finds out by looking at the
//     bound once more.
//  4. Lock order: cleaner.cleaning, compactor.mu, working.mu, published.mu, position.mu. No I/O
//     happens under the last three. packer.mu is held alone.
//
// The goroutines of a Store:
//
//	former     tries and groups commits              until Close
//	writer     writes and publishes groups (on disk) until the former ends
//	compactor  marks time and compacts               until Close
//	cleaner    rewrites tables with garbage          until Close
//	syncer     syncs, with FsyncInterval or NoSync   until Close
//	lessor     ends expired leases                   until Close
//	packer     packs versions                        until Close
//
// and Pebble's own.
//
// # When the disk fails
//
// The first write or sync that fails makes the store read-only, permanently: Err and Stats return
// the cause, commits in progress end with ErrUnavailable (the write may be found after a restart),
// those not yet begun with ErrNotWritten, and reads and cursors continue with the published state.
// No write is retried, because a second fsync that succeeds does not cover the pages that the
// first one lost. The process keeps the directory until it ends; the next Open finds every
// acknowledged write.
//
// The store is not opened again in the same process either: goroutines of Pebble's are in the
// middle of writes, with files open, and only the end of the process proves that they write no
// more. So a program that runs a store waits for Failed and restarts the process: at once or, if
// OutOfSpace, when HasRoom returns true. Until then the store can be read.
//
// # Memory
//
// About 180 bytes per key beside the key and the value; 30 for each record that is garbage on disk,
// of which there are at most half as many as kept records; 130 and the value for each further
// version that history holds; 400 per open cursor. All values are in memory. The versions in
// history, except the last 256 events and one version in 16 of a key, are kept as the difference to
// the next version: some hundred bytes for a pod of 4 KB.
//
// # Disk
//
// The kept bytes are the live ones, the existing keys with their values, and those that only
// history holds, because of Options.History. With 5 minutes of history a store that writes 1 MB a
// second keeps 300 MB.
//
// The directory takes at most two and a half times the kept bytes, however fast the writes; a store
// of less than 4 MB takes up to twice its size and 2 MB, for its log files and the tables being
// rewritten. With little history that is less than three times the live bytes. Tables are
// compressed: pods of 3 KB take a fifth of that. History that is compacted all at once, by a
// client, counts until the cleaner has run. Four rules keep these bounds:
//
//   - The log file is replaced at a 16th of the kept bytes, at least 128 KB and at most 2 MB, once
//     the records of the last one are in a table. One file is kept for reuse.
//   - Tables of the log are disjoint ranges of revisions. When there is half as much garbage as
//     kept bytes, the cleaner rewrites the tables with the most garbage, a 16th of the kept bytes
//     at a time, and replaces them by the remaining records in one step. A table of expired
//     history is just dropped.
//   - A record of a deletion is dropped when no older record is garbage.
//   - Writers wait for the cleaner when the disk holds twice the kept bytes.
//
// TestDiskUnderChurn tests this at full speed, and measures at every moment (keys overwritten at
// random with incompressible values; the largest of several runs):
//
//	live   value   history  of kept bytes    of live bytes
//	1 MB   2 KB    1/16     2.9 (3.1 MB)     3.1
//	4 MB   2 KB    1/16     1.9              2.0
//	4 MB   100 KB  1/4      2.1              2.6
//	8 MB   300 B   1/4      1.7              2.3
//	8 MB   2 KB    1/16     1.9              2.0
//	8 MB   100 KB  1/16     2.1              2.2
//	24 MB  4 KB    1/64     1.8              1.9
//	24 MB  4 KB    1/2      1.6              2.4
//
// # Format
//
// The directory holds the file FAIRLEAD, one line of text that names the owner and the format and
// records whether creation was finished ("fairlead store, format 1, ready"), the file FAIRLEAD.rev,
// and the Pebble database log/. A directory that is not empty and has no file FAIRLEAD is foreign
// and never written to.
//
// In Pebble, each change of a key is one record under its revision:
//
//	key    bytes  meaning
//	0      8      revision, big-endian (so that the order of keys is the order of commits)
//	8      4      place of the change in its transaction, from 0, big-endian
//
//	value  bytes  meaning
//	0      1      0 put, 1 delete; 0x80 added on the last record of a transaction
//	1      8      create revision (0 for delete), big-endian like all that follows
//	9      8      version: writes since creation (0 for delete)
//	17     8      lease, or 0
//	25     4      length of the key, n
//	29     n      key
//	29+n   rest   value (empty for delete)
//
// Compacted records stay until their table is rewritten. Open recognizes them by the newer record
// of their key.
//
// Other records have keys that begin with 0xff, which no revision does:
//
//	ff 'f'              8 bytes: format version, 1
//	ff 'c'              8 bytes: revision of the last compaction
//	ff 'l' + lease      8 bytes: TTL in seconds
//	ff 't' + revision   8 bytes: Unix time in nanoseconds by which all revisions
//	                    up to this one were committed; one in 30th of the history,
//	                    every 10 s at most
//
// Records carry no checksum of their own: Pebble puts a CRC-32C on every chunk of its log file and
// on every block of its tables, and notes in the log how far it was synced. Tables, and every log
// file but the last, are either as they were written or an error of Open. Pebble cannot detect a
// missing record, but Open does: above the last compaction revisions have no gaps, the places of a
// transaction count from 0, and its last record is marked as the last.
//
// The last log file that a crash leaves is checked before Pebble reads it. It may end with part of
// a write that was in progress. But each batch begins with a note, in Pebble's log data, of how
// much of the file was on disk before:
//
//	bytes  meaning
//	1      'n'
//	8      number of the log file, big-endian
//	8      how many of its bytes were synced
//
// Open looks for batches after the first damaged place, byte by byte. If one of them notes that
// this place was on disk, it was damaged since, and the store does not open. So every acknowledged
// commit is guarded by the next one that reaches the disk, or by the mark of time that follows it.
// A clean Close leaves no log file to replay.
//
// That leaves the end itself: a log that is cut at the end of a batch is whole, and one that is cut
// within a batch looks like a write that the crash cut short. So the last acknowledged revision is
// also noted in another file, FAIRLEAD.rev, and a store whose log ends before it does not open
// (unless Options.AcceptTornTail is set):
//
//	batch ──▶ log ──▶ sync ──▶ note in FAIRLEAD.rev ──▶ published
//
// The note is a write of 12 bytes without a sync, 1 µs beside the milliseconds of the log's sync:
// when the process is killed, the system still has it. It follows the sync, so a note on disk never
// records more than the log holds, even after a loss of power. It is synced with the first
// group of each log file, because a last log file that is gone leaves no trace in Pebble, and every
// 10 s with the mark of time. So a lost end goes unnoticed only after a loss of power, and only if
// it is younger than both and no later batch follows the cut. Commits that are acknowledged before
// they are synced (FsyncInterval, NoSync) are noted when they are synced.
//
// The naive designs lost: a second sync for each group halves the commits that a disk takes, and
// the length of a batch, noted in the one after it, does not cover the last batch.
//
// FAIRLEAD.rev is written in turns at byte 0 and byte 512:
//
//	bytes  meaning
//	8      revision, big-endian
//	4      CRC-32C of these, big-endian
package local
