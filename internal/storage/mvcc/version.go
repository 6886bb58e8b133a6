package mvcc

import (
	"bytes"
	"sync/atomic"

	"fairlead.dev/storage"
)

// A Version is one key as of one revision, and one event of the log. It is immutable, except that
// compaction cuts Prev and that its value may be packed.
type Version struct {
	body atomic.Pointer[body]
	// Prev is the version that this one superseded; nil if this is the first one or if it is
	// compacted.
	Prev atomic.Pointer[Version]
	// Sub is the place of the change within its transaction.
	Sub uint32
	// Deleted marks a tombstone.
	Deleted bool
}

// NewVersion returns a version without a predecessor.
func NewVersion(kv storage.KeyValue, sub uint32, deleted bool) *Version {
	v := &Version{Sub: sub, Deleted: deleted}
	v.body.Store(&body{kv: kv})
	return v
}

// KV returns v's key and revisions. Its Value may be packed; see Live.
func (v *Version) KV() *storage.KeyValue { return &v.body.Load().kv }

// ValueSize returns the length of v's value, packed or not.
func (v *Version) ValueSize() int { return v.body.Load().size() }

// Whole reports whether v, which may be nil, has a value that is not packed.
func (v *Version) Whole() bool { return v != nil && !v.Deleted && v.body.Load().base == nil }

// CopyValue gives v, which is whole, a copy of its value.
func (v *Version) CopyValue() {
	kv := *v.KV()
	kv.Value = bytes.Clone(kv.Value)
	v.body.Store(&body{kv: kv})
}

// Present returns what KV does, or nil if v is nil or a tombstone.
func (v *Version) Present() *storage.KeyValue {
	if v == nil || v.Deleted {
		return nil
	}
	return v.KV()
}

// Live returns v's KeyValue with its value whole, or nil if v is nil or a tombstone.
func (v *Version) Live() *storage.KeyValue {
	if v == nil || v.Deleted {
		return nil
	}
	return v.body.Load().whole()
}

// Event returns v as an event, with Prev or without. Prev is only right while v's revision is above the
// last compaction.
func (v *Version) Event(prev bool) storage.Event {
	e := storage.Event{Type: storage.Put, KV: v.body.Load().whole()}
	if prev {
		e.Prev = v.Prev.Load().Live()
	}
	if v.Deleted {
		e.Type = storage.Delete
	}
	return e
}
