package watchcache

import (
	"sync/atomic"

	"github.com/tidwall/btree"
)

// An index orders the objects that have a value in one dimension by that value, then by key. It is
// built when a list first misses it and updated from then on. Small resources and labels that are
// rarely selected have no index.
type index struct {
	dim  dimension
	tree *btree.BTreeG[indexed]
	// used orders indexes by their last use; the copies share it.
	used *atomic.Uint64
}

type indexed struct {
	value  string
	key    string
	object *Object
}

const (
	// minIndexed is the number of objects below which a scan is as good.
	minIndexed = 128
	// labelMisses is how often a label is scanned for before it is indexed.
	labelMisses = 2
	// maxLabelIndexes bounds the indexes of labels; a new one replaces the least recently used.
	maxLabelIndexes = 4
	// maxWanted bounds the labels whose misses are counted.
	maxWanted = 64
)

var indexClock atomic.Uint64

func newIndex(dim dimension) *index {
	less := func(a, b indexed) bool {
		if a.value != b.value {
			return a.value < b.value
		}
		return a.key < b.key
	}
	x := &index{dim: dim, tree: btree.NewBTreeGOptions(less, btree.Options{NoLocks: true}), used: new(atomic.Uint64)}
	x.touch()
	return x
}

func (x *index) touch() { x.used.Store(indexClock.Add(1)) }

func (x *index) copy() *index { return &index{x.dim, x.tree.Copy(), x.used} }

func (x *index) set(o *Object) {
	if !o.readable() {
		return // no list that might hold it gets as far as to look it up
	}
	if value, ok := x.dim.value(o); ok {
		x.tree.Set(indexed{value, o.Key(), o})
	}
}

func (x *index) apply(ch *change) {
	if ch.old != nil {
		value, ok := x.dim.value(ch.old)
		stays := false
		if ok && ch.new != nil {
			is, has := x.dim.value(ch.new)
			stays = has && is == value
		}
		if ok && !stays {
			x.tree.Delete(indexed{value: value, key: ch.old.Key()})
		}
	}
	if ch.new != nil {
		x.set(ch.new)
	}
}

// walk calls f for the objects with a value, after a key.
func (x *index) walk(value, after string, f func(*Object) bool) {
	x.tree.Ascend(indexed{value: value, key: after}, func(e indexed) bool {
		if e.value != value {
			return false
		}
		return e.key == after || f(e.object)
	})
}

func findIndex(xs []*index, dim dimension) *index {
	for _, x := range xs {
		if x.dim == dim {
			return x
		}
	}
	return nil
}

// noteMiss records that a list missed an index.
func (c *Cache) noteMiss(dim dimension) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.err != nil || findIndex(c.mu.indexes, dim) != nil {
		return
	}
	if dim.label {
		if c.mu.wanted == nil || len(c.mu.wanted) >= maxWanted {
			c.mu.wanted = map[dimension]int{}
		}
		if c.mu.wanted[dim]++; c.mu.wanted[dim] < labelMisses {
			return
		}
		delete(c.mu.wanted, dim)
		c.dropLabelIndex()
	}
	x := newIndex(dim)
	c.mu.tree.Scan(func(_ string, o *Object) bool {
		x.set(o)
		return true
	})
	c.mu.indexes = append(c.mu.indexes, x)
	c.snap.Store(nil)
}

// dropLabelIndex makes room for one more index of a label.
func (c *Cache) dropLabelIndex() {
	n, oldest := 0, -1
	for i, x := range c.mu.indexes {
		if !x.dim.label {
			continue
		}
		if n++; oldest < 0 || x.used.Load() < c.mu.indexes[oldest].used.Load() {
			oldest = i
		}
	}
	if n < maxLabelIndexes {
		return
	}
	// Snapshots hold copies of their own: the slice may be changed in place.
	last := len(c.mu.indexes) - 1
	c.mu.indexes[oldest] = c.mu.indexes[last]
	c.mu.indexes[last] = nil
	c.mu.indexes = c.mu.indexes[:last]
}
