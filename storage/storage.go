// Package storage is the contract of the one log everything else watches.
//
// It is etcd's data model, without Kubernetes types: keys and values are opaque
// bytes, every transaction that changes something gets one revision, and every
// change of the past, down to the last compaction, can be read again.
//
// # Promises to readers
//
//  1. Revisions are assigned in commit order, without gaps, from 2 on (an empty
//     store is at revision 1, as etcd's is). All changes of a transaction carry
//     the same revision and are never seen apart.
//  2. A write is visible to Range, Revision and Current once Commit has returned, and is durable
//     by then (as far as the Store promises at all). No reader sees a write that is not durable. A
//     Cursor of a store in this process shows it by then too; a Cursor that is fed over a network
//     shows it soon after, and its Progress is the revision up to which it is complete (see
//     Cursor.Want).
//  3. Range at a revision answers as of exactly that revision for as long as it is not compacted;
//     later it fails with ErrCompacted, and for a future revision with ErrFutureRevision. It never
//     returns any other state.
//
// # Promises to watchers
//
//  1. A Cursor is a position in the log and a bell. It yields every event of its
//     range with a revision above its start, once, in revision order, with no
//     gap; the events of a transaction come in one batch.
//  2. The store keeps no state for a cursor: the only cost of a slow one is its own lateness. If
//     events that it still needs are compacted, Next fails with ErrCompacted, and the reader lists
//     again. A cursor whose keys are not written needs no events, and stays valid however rarely
//     it is read.
//  3. The bell rings after the events can be read, at least once after the last of them; it may
//     ring without events. It does not ring for events outside of the cursor's range, which only
//     move Progress.
//
// # Leases
//
//  1. A key that is put with a lease ends with the lease: by Revoke, or when its TTL has passed
//     since the last KeepAlive. The keys of a lease are deleted by ordinary transactions, which
//     watchers see as such; the lease is gone no later than the last of its keys.
//  2. A lease never ends early. It may end late: after a restart or a change of
//     leader it has its full TTL again.
//  3. A put binds its key to Op.Lease and to no other; a put without one unbinds
//     it.
//
// # Concurrency
//
// All methods of a Store may be called from any goroutine. A Cursor belongs to
// one goroutine at a time. Bytes handed to Commit must not be changed
// afterwards, and bytes that come out are shared and must not be changed at all.
package storage

import (
	"context"
	"strconv"
	"time"
)

// Revision is a position in the log. 0 means "no revision" or "the latest", depending on its use; real
// revisions begin at 1.
type Revision int64

// ParseRevision reads the decimal form that String writes.
func ParseRevision(s string) (Revision, error) {
	n, err := strconv.ParseUint(s, 10, 63)
	return Revision(n), err
}

// String writes the decimal form, as in a Kubernetes resourceVersion.
func (r Revision) String() string { return strconv.FormatInt(int64(r), 10) }

// KeyValue is one key as of one revision.
type KeyValue struct {
	Key   string
	Value []byte
	// CreateRevision is the revision of the key's creation, ModRevision that of its last write;
	// Version counts the writes since its creation, from 1.
	CreateRevision, ModRevision Revision
	Version                     int64
	// Lease is the lease that the key is bound to, 0 without a lease.
	Lease LeaseID
}

// EventType is the kind of a change of a key.
type EventType uint8

const (
	// Put is a creation or a change.
	Put EventType = iota
	// Delete leaves a tombstone: the key has no value from here on.
	Delete
)

// Event is one change of one key.
type Event struct {
	Type EventType
	// KV is the key after the change. For Delete it carries the key and, as
	// ModRevision, the revision of the deletion, and no value.
	KV *KeyValue
	// Prev is the key before the change, nil if it did not exist. The events of a cursor have it only if
	// that was requested (WatchRequest.Prev).
	Prev *KeyValue
}

// Revision is where the event stands in the log.
func (e Event) Revision() Revision { return e.KV.ModRevision }

// Condition asks that a key be at a revision: Key was last written at
// ModRevision, or does not exist if that is 0.
//
// With an End it requires that a range is unchanged: no key in [Key, End) was written or deleted
// after ModRevision, which may not be 0. Commit fails with ErrCompacted if the history for this is
// compacted. A Store may refuse with ErrInvalid a range that holds more keys than it can compare at
// once, and must accept 100. A Store that only sees the current keys may overlook a key that was
// both created and deleted since.
type Condition struct {
	Key, End    string
	ModRevision Revision
}

// Op is one write of a transaction: a Put of Key, a Delete of Key, or, with an
// End, a Delete of all keys in [Key, End).
type Op struct {
	Type     EventType
	Key, End string
	Value    []byte
	// Lease binds a Put's key; Commit fails with ErrLeaseNotFound, without a write, if the
	// conditions hold and the lease does not exist.
	Lease LeaseID
}

// Txn applies all ops at one new revision if all conditions hold; otherwise it changes no key and
// returns the values of the conditions' keys. A key that is put must not be in another op;
// deletions may overlap. Deleting a key that does not exist is no change; a transaction without
// changes gets no revision. The state that a transaction at revision r found can be read at r-1,
// since revisions have no gaps. A Store must accept 100 ops and 100 conditions, and may refuse more
// with ErrInvalid; it must accept MinTxnBytes, and may refuse more with ErrTooLarge.
type Txn struct {
	If   []Condition
	Then []Op
}

// MinTxnBytes is how many bytes of keys and values, in its ops, every Store accepts in a
// transaction.
const MinTxnBytes = 1 << 20

// TxnResult is the result of a transaction.
type TxnResult struct {
	// Succeeded reports whether the conditions held.
	Succeeded bool
	// Revision is the revision of the write or, without a change, the one at which the conditions
	// were read. Changed separates the two.
	Revision Revision
	Changed  bool
	// Current holds, if the conditions did not hold, each condition's key as of
	// Revision, in the order of If; nil for a key that does not exist, and for a
	// condition on a range.
	Current []*KeyValue
}

// NoEnd is the End of an unbounded range: all keys from its start on.
const NoEnd = "\x00"

// RangeRequest selects keys in [Start, End); an empty End selects the one key
// Start, NoEnd all keys from Start on.
type RangeRequest struct {
	Start, End string
	// Revision to read at; 0 is the latest.
	Revision Revision
	// Limit bounds the keys returned; 0 is no bound.
	Limit int64
	// CountOnly leaves KVs empty and More false.
	CountOnly bool
}

// RangeResult holds keys in order.
type RangeResult struct {
	KVs []*KeyValue
	// Count is the number of keys in the range, regardless of Limit.
	Count int64
	// More reports that Limit cut the range.
	More bool
	// Revision is the revision that was read: the requested one, if the request named one.
	Revision Revision
}

// WatchRequest selects the events of a Cursor: those of keys in [Start, End), as in RangeRequest.
type WatchRequest struct {
	Start, End string
	// After is the revision just after which the cursor begins; 0 is the present end of the log. A
	// revision that does not exist yet is waited for: no event up to it is delivered, and Progress
	// begins at it.
	After Revision
	// Prev requests Event.Prev. Without it a Store saves the work of reading the previous version.
	Prev bool
}

// A Version is a state of one key, or its absence after a deletion, as the event that began it.
type Version struct {
	Event
	// After and By bound the time of the commit: it was after After and no later than By. Each is
	// zero if the store does not know it.
	After, By time.Time
}

// VersionsRequest selects versions of one key.
type VersionsRequest struct {
	Key string
	// Before selects the versions below a revision; 0 selects all.
	Before Revision
	// Limit bounds the versions returned. It must be above 0.
	Limit int
}

// VersionsResult holds the selected versions of a key, the newest first.
type VersionsResult struct {
	// Versions ends, if no limit cuts it, with the first version that is kept: the key's first one,
	// or the state that the last compaction left. That one has a revision of Compacted or below, and
	// no Prev.
	Versions []Version
	// More reports that Limit cut the versions. A Store that would have to search for older ones may
	// set it without having found any.
	More bool
	// Revision is the revision up to which the versions are complete, Compacted the last compaction
	// before it.
	Revision, Compacted Revision
}

// Store is the log and its present state.
type Store interface {
	// Range reads keys as of one revision. Errors: ErrCompacted,
	// ErrFutureRevision, ErrInvalid, ErrUnavailable, ErrClosed.
	Range(ctx context.Context, r RangeRequest) (RangeResult, error)
	// Versions reads the history of one key, as far as it is kept, across deletions. Errors:
	// ErrInvalid, ErrUnavailable, ErrClosed.
	Versions(ctx context.Context, r VersionsRequest) (VersionsResult, error)
	// Commit applies a transaction. It returns when the write is durable and
	// visible. A false condition is no error. When it returns an error other
	// than ErrInvalid, ErrTooLarge, ErrCompacted and ErrLeaseNotFound, the write may
	// or may not have happened unless the error is ErrNotWritten (a store that is
	// closed refuses with ErrNotWritten and ErrClosed). Cancelling ctx stops the waiting, not the write.
	Commit(ctx context.Context, t Txn) (TxnResult, error)
	// Watch returns a cursor over events. Errors: ErrCompacted, ErrInvalid, ErrUnavailable, ErrClosed.
	Watch(r WatchRequest) (Cursor, error)
	// Revision is the last revision that this process knows readers can see: no less than any it
	// has been told. If other processes write to the same log, it may be behind.
	Revision() Revision
	// Current is the last revision that readers can see, whichever process wrote it: no write that
	// was acknowledged before the call is above it. To read the current state from a copy, wait
	// until the copy is at that revision. Errors: ErrUnavailable, ErrClosed.
	Current(ctx context.Context) (Revision, error)
	// Compacted is the revision of the last compaction that this process knows of: Range works at
	// it and above, Watch after it and after any revision above. It is 0 before the first
	// compaction.
	Compacted() Revision
	// Compact drops the versions that only revisions up to r can see. Errors: ErrCompacted,
	// ErrFutureRevision, and as for Commit.
	Compact(ctx context.Context, r Revision) error
	Leaser
	// Close ends all cursors with ErrClosed and releases all resources.
	Close() error
}

// Batch is the result of a cursor's Next: whole transactions, in order. A cursor that is far behind
// gets them in several batches, and the bell rings for the next.
type Batch struct {
	// Events in revision order; empty if there are no new events.
	Events []Event
	// Progress: the reader has now seen every event of its range up to here. It
	// never goes back.
	Progress Revision
}

// Cursor is a position in the log; see the package comment for its promises.
type Cursor interface {
	// Next returns the events since the last call, without waiting. Errors: ErrCompacted,
	// ErrClosed, ErrUnavailable; after an error the cursor is dead.
	Next() (Batch, error)
	// Bell is a channel of one slot that is rung when Next may have events, and when it would fail.
	Bell() <-chan struct{}
	// Want requests that Progress advances to r as soon as that revision exists, even without an
	// event in the range, and that the bell rings then; it may ring before. The store may forget a
	// request for a revision that does not come within some seconds.
	Want(r Revision)
	// Close frees the bell. Next fails with ErrClosed afterwards.
	Close()
}

// A Ringer is a Cursor that can call a function in place of its bell, so that a reader of very many
// cursors needs no goroutine for each. It is optional for Stores.
type Ringer interface {
	// RingTo makes the cursor call f where it would ring the bell, and calls it once immediately;
	// the bell is silent then. f must return at once and call no method of the Store. RingTo may be
	// called until Close has returned.
	RingTo(f func())
}

// A Packer is a Store of this process that holds values as their differences to others, and lets a reader that keeps the
// same keys share its memory. It is optional for Stores.
type Packer interface {
	// Pack has the store pack the value of a key, which was last written at a revision and is not expected to change soon, and
	// returns it as the store holds it from then on; nil if the key has changed.
	Pack(key string, at Revision) *Packed
	// RangePacked calls each with the keys in [start, end) as of a revision above 0, in order, as the store holds them. Errors
	// as for Store.Range: the keys that each was called with before an error are of no use.
	RangePacked(ctx context.Context, start, end string, at Revision, each func(*Packed)) error
}

// A Packed is a key as its store holds it. It is immutable.
type Packed struct {
	// KV is the key. With a Base, its value is the difference (internal/delta) to the value of Base.
	KV *KeyValue
	// Base is another key, or an earlier state of one, nil if the value is whole.
	Base *KeyValue
}

// PrefixEnd is the end of the range of all keys that begin with prefix: NoEnd if no key sorts after
// them.
func PrefixEnd(prefix string) string {
	b := []byte(prefix)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0xff {
			b[i]++
			return string(b[:i+1])
		}
	}
	return NoEnd
}
