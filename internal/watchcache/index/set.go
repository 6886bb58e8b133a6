package index

import (
	"slices"

	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/internal/watchcache/selection"
)

const (
	// MinObjects is the number of objects below which a scan is as good.
	MinObjects = 128
	// labelMisses is how often a label is scanned for before it is indexed.
	labelMisses = 2
	// maxLabelIndexes bounds the indexes of labels; a new one replaces the least recently used.
	maxLabelIndexes = 4
	// maxWanted bounds the labels whose misses are counted.
	maxWanted = 64
)

// A Set holds the indexes of one resource. It is built by the misses of lists: an indexed field gets
// its index at the first miss, a label at the second. The zero Set is empty; its owner's lock guards
// it.
type Set struct {
	indexes []*Index
	// wanted counts the misses of labels.
	wanted map[selection.Dimension]int
}

// Reset drops all indexes; the misses stay counted.
func (s *Set) Reset() { s.indexes = nil }

// Apply brings the indexes from one state of an object to the next; either may be nil.
func (s *Set) Apply(before, after *object.Object) {
	for _, x := range s.indexes {
		x.apply(before, after)
	}
}

// Copy returns copies of the indexes, which later changes do not reach.
func (s *Set) Copy() []*Index {
	var copies []*Index
	for _, x := range s.indexes {
		copies = append(copies, x.copy())
	}
	return copies
}

// Find returns the index of a dimension, or nil.
func Find(indexes []*Index, dim selection.Dimension) *Index {
	for _, x := range indexes {
		if x.dim == dim {
			return x
		}
	}
	return nil
}

// Miss records that a list missed an index, and reports whether it is built now. scan yields all
// objects.
func (s *Set) Miss(dim selection.Dimension, scan func(yield func(*object.Object))) bool {
	if Find(s.indexes, dim) != nil {
		return false
	}
	if dim.Label {
		if s.wanted == nil || len(s.wanted) >= maxWanted {
			s.wanted = map[selection.Dimension]int{}
		}
		if s.wanted[dim]++; s.wanted[dim] < labelMisses {
			return false
		}
		delete(s.wanted, dim)
		s.dropLabel()
	}
	x := newIndex(dim)
	scan(x.set)
	s.indexes = append(s.indexes, x)
	return true
}

// dropLabel makes room for one more index of a label.
func (s *Set) dropLabel() {
	n, oldest := 0, -1
	for i, x := range s.indexes {
		if !x.dim.Label {
			continue
		}
		if n++; oldest < 0 || x.used.Load() < s.indexes[oldest].used.Load() {
			oldest = i
		}
	}
	if n >= maxLabelIndexes {
		s.indexes = slices.Delete(s.indexes, oldest, oldest+1)
	}
}
