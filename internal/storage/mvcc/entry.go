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

// At returns the key's version as of a revision, nil if the key does not exist then.
func (e *Entry) At(r storage.Revision) *Version {
	v := e.Head.Load()
	for v != nil && v.KV().ModRevision > r {
		v = v.Prev.Load()
	}
	if v == nil || v.Deleted {
		return nil
	}
	return v
}

// Copy returns one of the key's versions for another store, without a predecessor. The two share the memory of the value,
// unless the version was superseded: then the value may be packed as the difference to a version of this store.
func (e *Entry) Copy(v *Version) *Version {
	b := v.body.Load()
	if e.Head.Load() != v {
		return NewVersion(*b.whole(), 0, false)
	}
	c := &Version{}
	c.body.Store(b)
	return c
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
