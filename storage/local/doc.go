// Package local is the embedded storage.Store: everything in memory, and Pebble
// under it as the durable log.
//
// # How it works
//
// A key is a chain of versions, the newest first, and every version is also an
// event of the log; both are the same struct, and nothing is stored twice.
//
//	tree (B-tree, copy-on-write)       log (segments of 512, by sequence number)
//	  "/registry/pods/default/a" ──▶ v7 ──▶ v4 ──▶ v2
//	                                  ▲      ▲      ▲
//	                                 [6]    [3]    [1]
//
// Readers load one pointer to the published state (revision, tree, log) and walk
// without a lock, skipping versions that are newer than the revision they read
// at. Writing a key that exists therefore does not touch the tree at all: it puts
// a version on the chain. Only a new key copies a path of the tree, once per
// group.
//
// A commit waits in a queue. The former tries all that is queued against the
// newest chains and gathers it in a group; the writer makes the group durable
// with one batch and one sync, and publishes it. While the writer syncs, the
// former goes on with the next group, so the more writers wait, the more commits
// share a sync. What was tried but is not durable sits on the chains with a
// revision that nobody reads at yet.
//
// A cursor is two sequence numbers, the first and the last event it has not read.
// Publishing finds the cursors that an event concerns (by hash for a cursor on
// one key; by trying the distinct ranges, of which there are few) and notes the
// numbers before the events can be seen. A cursor that nothing was noted for is
// at the end of the log, whatever has been compacted since, and costs nothing.
//
// Compaction up to r needs no walk over the keys: each event up to r superseded
// one version at most, so the part of the log that goes names all that goes with
// it. It happens by itself when history grows old, see Options.History.
//
// # Concurrency
//
//  1. Store and its methods are safe for any goroutine; a Cursor belongs to one.
//  2. Range, Revision, Compacted and Next never wait for a writer or for the
//     disk. Next takes the lock of its cursor, Range none.
//  3. Revisions are published one group after the other, in order; a state once
//     published never changes. Chains are only added to at the head, and cut at
//     the tail after the new bound of compaction is published, so that who walked
//     a cut chain finds out by looking at the bound once more.
//  4. Lock order: compactor.cleaning, compactor.mu, Store.work, Store.pub, cursor.mu. No input or
//     output happens under the last three.
//
// The goroutines of a Store:
//
//	former     tries and groups commits              until Close
//	writer     writes and publishes groups (on disk) until the former ends
//	compactor  marks time and compacts               until Close
//	cleaner    rewrites tables that are garbage      until Close
//	syncer     syncs, with FsyncInterval or NoSync   until Close
//	lessor     ends leases when their time has come  until Close
//	packer     packs what history keeps              until Close
//
// and Pebble's own.
//
// # When the disk fails
//
// The first write or sync that fails makes the store read-only, for good: Err and
// Stats say why, commits under way end with ErrUnavailable (the write may be
// found after a restart), those not yet begun with ErrNotWritten, and reads and
// cursors go on with what was published. Nothing is tried again, because a second
// fsync that succeeds says nothing about the pages that the first one lost. The
// process keeps the directory until it ends; the next Open finds every
// acknowledged write.
//
// Nor is it opened again in the same process: goroutines of Pebble's stand in the middle
// of writes, with files open, and only the end of the process is proof that they write no
// more. So a program that runs a store waits for Failed and starts the process anew: at once, or, if
// OutOfSpace, when HasRoom says so, and goes on to be read until then.
//
// # Memory
//
// About 180 bytes per key beside the key and the value, 30 for each record that is
// garbage on disk, of which there are half as many as are kept at most, 130 and the value for each
// version more that history still holds, 400 per open cursor. All values are in
// memory. Of what history holds, all but the last 256 events and one version in 16
// of a key are kept as the difference to the version after it: some hundred bytes
// for a pod of 4 KB.
//
// # Disk
//
// What is kept is what is live, the keys that exist with their values, and what
// history holds beside, because Options.History asks for it. With 5 minutes of
// history a store that writes 1 MB a second keeps 300 MB.
//
// The directory takes at most two and a half times what is kept, however fast is
// written; a store of less than 4 MB takes up to twice that and 2 MB, for its log
// files and what is being rewritten. Where little history is kept, that is less than
// three times what is live. Tables are compressed: pods of 3 KB take a fifth of that.
// History that goes all at once, as when a client compacts, counts until the cleaner
// has been there.
// Four rules keep to that:
//
//   - The log file begins anew at a 16th of what is kept, 128 KB at least and 2 MB
//     at most, and waits for what was in the last to be in a table. One is kept to be
//     written again.
//   - Tables of the log are ranges of revisions, and disjoint. When there is half as
//     much garbage as is kept, the cleaner rewrites the tables in which most is
//     garbage, a 16th of what is kept at a time, and in one step puts what is left
//     in their place. A table of history that has expired just goes.
//   - A record that says that its key was deleted goes when nothing older is garbage.
//   - Writers wait for the cleaner when twice as much is on disk as is kept.
//
// TestDiskUnderChurn holds it at full speed, and measures at every moment (keys
// overwritten at random with what does not compress; the largest of several runs):
//
//	live   value   history  of what is kept  of what is live
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
// The directory holds the file FAIRLEAD, one line of text that says whose it is,
// in which format, and whether creation was finished ("fairlead store, format 1,
// ready"), the file FAIRLEAD.rev, and the Pebble database log/. A directory that is not
// empty and has no file FAIRLEAD is foreign and never written to.
//
// In Pebble, each change of a key is one record under its revision:
//
//	key    bytes  what
//	0      8      revision, big-endian (so that the order of keys is the order of commits)
//	8      4      place of the change in its transaction, from 0, big-endian
//
//	value  bytes  what
//	0      1      0 put, 1 delete; 0x80 added on the last record of a transaction
//	1      8      create revision (0 for delete), big-endian like all that follows
//	9      8      version: writes since creation (0 for delete)
//	17     8      lease, 0 for none
//	25     4      length of the key, n
//	29     n      key
//	29+n   rest   value (empty for delete)
//
// Records that compaction has let go are there until their table is rewritten. Open
// knows them by the newer record of their key.
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
// Records carry no checksum of their own: Pebble puts a CRC-32C on every chunk of
// its log file and on every block of its tables, and notes in the log how far it
// was synced. Tables, and every log file but the last, are either as they were
// written or an error of Open. What Pebble cannot see, a record that is missing,
// Open sees: above the last compaction revisions have no gaps, the places of a
// transaction count from 0, and its last record says that it is the last.
//
// The last log file that a crash leaves is read once more before Pebble gets it.
// What was being written may be in it in part, and that is its end. But each batch
// begins with a note, in Pebble's log data, of how much of the file was on disk
// before:
//
//	bytes  what
//	1      'n'
//	8      number of the log file, big-endian
//	8      how many of its bytes were synced
//
// Open looks for batches behind the first place that is not whole, byte by byte.
// If one of them notes that this place was on disk, it was damaged since, and the
// store does not open. So every acknowledged commit is guarded by the next one that
// reaches the disk, or by the mark of time that follows it. A clean Close leaves no log
// file to replay.
//
// That leaves the end itself: a log that is cut at the end of a batch is whole, and one
// that is cut within looks like a write that the crash cut short. So the last revision
// that was acknowledged is noted elsewhere, in FAIRLEAD.rev, and a store whose log ends
// before it does not open (unless Options.AcceptTornTail says so):
//
//	batch ──▶ log ──▶ sync ──▶ note in FAIRLEAD.rev ──▶ readers and writers see it
//
// The note is a write of 12 bytes that nobody syncs, 1 µs beside the milliseconds of the
// log's sync: when the process is killed, the system still has it. It follows the sync,
// so a note on disk never knows of more than the log does, whatever else a loss of power
// takes. Synced it is with the first group of each log file, because a last log file
// that is gone leaves no trace in Pebble, and every 10 s with the mark of time. So what
// is cut off goes unnoticed only after a loss of power, and only if it is younger than
// both and no later batch follows the cut. What is acknowledged before it is synced
// (FsyncInterval, NoSync) is noted when it is synced.
//
// The naive designs lost: a second sync for each group halves what a disk commits, and
// the length of a batch in the one after it says nothing of the last.
//
// FAIRLEAD.rev is written in turns at byte 0 and byte 512:
//
//	bytes  what
//	8      revision, big-endian
//	4      CRC-32C of these, big-endian
package local
