package index

import (
	"strings"
	"sync/atomic"

	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/internal/watchcache/selection"

	"github.com/tidwall/btree"
)

// An Index orders the objects that have a value in one dimension by that value, then by key. It is
// built when a list first misses it and updated from then on. Small resources and labels that are
// rarely selected have no index.
type Index struct {
	dim  selection.Dimension
	tree *btree.BTreeG[indexed]
	// used orders indexes by their last use; the copies share it.
	used *atomic.Uint64
}

type indexed struct {
	// value is one string for all objects that have it, and not a part of one object's JSON, which would stay in memory.
	value  string
	key    string
	object *object.Object
}

var indexClock atomic.Uint64

func newIndex(dim selection.Dimension) *Index {
	less := func(a, b indexed) bool {
		if a.value != b.value {
			return a.value < b.value
		}
		return a.key < b.key
	}
	x := &Index{dim: dim, tree: btree.NewBTreeGOptions(less, btree.Options{NoLocks: true}), used: new(atomic.Uint64)}
	x.touch()
	return x
}

func (x *Index) touch() { x.used.Store(indexClock.Add(1)) }

func (x *Index) copy() *Index { return &Index{x.dim, x.tree.Copy(), x.used} }

func (x *Index) set(o *object.Object) {
	if !object.Readable(o) {
		return // no list that might hold it gets as far as to look it up
	}
	if value, ok := x.dim.Value(o); ok {
		x.tree.Set(indexed{x.own(value), o.Key(), o})
	}
}

// own returns the index's own copy of a value.
func (x *Index) own(value string) (own string) {
	x.tree.Ascend(indexed{value: value}, func(first indexed) bool {
		own = first.value
		return false
	})
	if own != value {
		own = strings.Clone(value)
	}
	return own
}

func (x *Index) apply(before, after *object.Object) {
	if before != nil {
		value, ok := x.dim.Value(before)
		stays := false
		if ok && after != nil {
			is, has := x.dim.Value(after)
			stays = has && is == value
		}
		if ok && !stays {
			x.tree.Delete(indexed{value: value, key: before.Key()})
		}
	}
	if after != nil {
		x.set(after)
	}
}

// Walk calls f for the objects with a value, after a key.
func (x *Index) Walk(value, after string, f func(*object.Object) bool) {
	x.touch()
	x.tree.Ascend(indexed{value: value, key: after}, func(e indexed) bool {
		if e.value != value {
			return false
		}
		return e.key == after || f(e.object)
	})
}
