package mvcc

import (
	"sync/atomic"

	"github.com/tidwall/btree"

	"fairlead.dev/storage"
)

// An Entry is a key: the chain of its versions, the newest first. The newest may not be published
// yet; readers read as of a revision.
type Entry struct {
	Head atomic.Pointer[Version]
}

// At returns the key as of a revision, nil if it does not exist then.
func (e *Entry) At(r storage.Revision) *storage.KeyValue {
	v := e.Head.Load()
	for v != nil && v.KV().ModRevision > r {
		v = v.Prev.Load()
	}
	return v.Live()
}

// Cut drops v, a compacted tombstone, from the chain. It reports whether the chain is empty now: no
// version is above the tombstone.
func (e *Entry) Cut(v *Version) bool {
	w := e.Head.Load()
	if w == v {
		return true
	}
	for w != nil {
		p := w.Prev.Load()
		if p == v {
			w.Prev.Store(nil)
			return false
		}
		w = p
	}
	return false
}

// A Tree orders the keys. Copies share their nodes until they are written to.
type Tree = btree.Map[string, *Entry]
