package local

import (
	"sync/atomic"

	"github.com/tidwall/btree"

	"fairlead.dev/storage"
)

// A version is one key as of one revision, and one event of the log. It is immutable, except that
// compaction cuts prev and that its value may be packed.
type version struct {
	body atomic.Pointer[body]
	// prev is the version that this one superseded; nil if this is the first one or if it is
	// compacted.
	prev atomic.Pointer[version]
	// sub is the place of the change within its transaction.
	sub     uint32
	deleted bool
}

func newVersion(kv storage.KeyValue, sub uint32, deleted bool) *version {
	v := &version{sub: sub, deleted: deleted}
	v.body.Store(&body{kv: kv})
	return v
}

// kv returns v's key and revisions. Its Value may be packed; see body.whole.
func (v *version) kv() *storage.KeyValue { return &v.body.Load().kv }

// live returns v's KeyValue, or nil if v is nil or a tombstone.
func (v *version) live() *storage.KeyValue {
	if v == nil || v.deleted {
		return nil
	}
	return v.body.Load().whole()
}

// A size counts existing keys, and the bytes of the keys and their values.
type size struct{ keys, bytes int64 }

// replace replaces prev by next in the count; either may be nil.
func (s *size) replace(prev, next *version) {
	s.add(prev, -1)
	s.add(next, 1)
}

func (s *size) add(v *version, sign int64) {
	if v == nil || v.deleted {
		return
	}
	s.keys += sign
	s.bytes += sign * int64(len(v.kv().Key)+v.body.Load().size())
}

// event returns v as an event. Prev is only right while v's revision is above the last compaction.
func (v *version) event() storage.Event {
	e := storage.Event{Type: storage.Put, KV: v.body.Load().whole(), Prev: v.prev.Load().live()}
	if v.deleted {
		e.Type = storage.Delete
	}
	return e
}

// An entry is a key: the chain of its versions, the newest first. The newest may not be published
// yet; readers read as of a revision.
type entry struct {
	head atomic.Pointer[version]
}

// at returns the key as of a revision, nil if it does not exist then.
func (e *entry) at(r storage.Revision) *storage.KeyValue {
	v := e.head.Load()
	for v != nil && v.kv().ModRevision > r {
		v = v.prev.Load()
	}
	return v.live()
}

// cut drops v, a compacted tombstone, from the chain. It reports whether the chain is empty now: no
// version is above the tombstone.
func (e *entry) cut(v *version) bool {
	w := e.head.Load()
	if w == v {
		return true
	}
	for w != nil {
		p := w.prev.Load()
		if p == v {
			w.prev.Store(nil)
			return false
		}
		w = p
	}
	return false
}

// tree orders the keys. Copies share their nodes until they are written to.
type tree = btree.Map[string, *entry]
