package watchcache

import (
	"iter"
	"sort"
	"strings"
	"time"

	"fairlead.dev/internal/watchcache/index"
	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/internal/watchcache/selection"
	"fairlead.dev/storage"

	"github.com/tidwall/btree"
)

// A Snapshot is a resource as of one revision. It never changes; any number of goroutines may read
// it without a lock and without delaying writers.
type Snapshot struct {
	resource *resource
	rev      storage.Revision
	tree     *btree.Map[string, *Object]
	indexes  []*index.Index
	// unreadable are the tree's objects whose values are unreadable, in the order of their keys.
	unreadable []*Object
	// used is the time of the last read of a snapshot of the past; guarded by state.mu.
	used time.Time
}

// Revision returns the revision of the snapshot.
func (s *Snapshot) Revision() storage.Revision { return s.rev }

// Len returns the number of all objects, readable or not.
func (s *Snapshot) Len() int { return s.tree.Len() }

// Get returns one object, nil if it does not exist. It fails with an *UnreadableError.
func (s *Snapshot) Get(namespace, name string) (*Object, error) {
	o, _ := s.tree.Get(s.resource.kind.Key(namespace, name))
	return s.resource.readable(o)
}

// Unreadable reports whether the object exists and its value is unreadable.
func (s *Snapshot) Unreadable(namespace, name string) bool {
	o, ok := s.tree.Get(s.resource.kind.Key(namespace, name))
	return ok && !object.Readable(o)
}

// List yields the objects of a selection in the order of their keys, beginning after a key ("" for
// the beginning), at most limit if that is above 0. A namespace, a name, an indexed field and a
// label that is often selected are looked up; anything else is a scan. It fails with an
// *UnreadableError if the namespace, or the whole resource without a namespace, holds an
// unreadable object after that key.
func (s *Snapshot) List(sel Selection, after string, limit int) (iter.Seq[*Object], error) {
	m := s.resource.compile(sel)
	if err := s.resource.rangeError(&m, s.unreadable, after); err != nil {
		return nil, err
	}
	return func(yield func(*Object) bool) {
		n := 0
		s.walk(&m, after, true, func(o *Object) bool {
			n++
			return yield(o) && (limit <= 0 || n < limit)
		})
	}, nil
}

// Count returns the number of objects that List would yield without a limit. For all objects or a
// namespace it does not look at them, and its cost does not depend on their number.
func (s *Snapshot) Count(sel Selection, after string) int {
	m := s.resource.compile(sel)
	switch {
	case m.Filter != nil:
	case m.Base.Kind == selection.ByNothing:
		return s.tree.Len() - s.rank(after, true)
	case m.Base.Kind == selection.ByNamespace:
		// All keys with the prefix "a/" lie before "a0": '0' follows '/'.
		begin := s.resource.opts.Prefix + m.Base.Value
		return max(0, s.rank(begin+"0", false)-max(s.rank(begin+"/", false), s.rank(after, true)))
	}
	n := 0
	s.walk(&m, after, true, func(*Object) bool { n++; return true })
	return n
}

// rank returns the number of keys before one, the key itself included if it exists and itself is
// true. A node of the tree knows how many keys are below it, so the i-th key is found from the
// root, and the key's place by bisection.
func (s *Snapshot) rank(key string, itself bool) int {
	return sort.Search(s.tree.Len(), func(i int) bool {
		k, _, _ := s.tree.GetAt(i)
		return k > key || k == key && !itself
	})
}

// walk calls f for the objects of a selection until f returns false. If it begins a list, a missing
// index is noted.
func (s *Snapshot) walk(m *selection.Matcher, after string, begins bool, f func(*Object) bool) {
	if m.Filter.Nothing() {
		return
	}
	start := s.resource.opts.Prefix
	scoped := m.Base.Kind == selection.ByNamespace
	switch m.Base.Kind {
	case selection.ByKey:
		if o, ok := s.tree.Get(m.Base.Value); ok && o.Key() > after && m.Filter.Match(o) {
			f(o)
		}
		return
	case selection.ByNamespace:
		start += m.Base.Value + "/"
	case selection.ByValue:
		if x := index.Find(s.indexes, m.Base.Dim); x != nil {
			x.Walk(m.Base.Value, after, func(o *Object) bool { return m.GoesOn() && (!m.Filter.Match(o) || f(o)) })
			return
		}
		if begins && s.tree.Len() >= index.MinObjects {
			defer s.resource.noteMiss(m.Base.Dim)
		}
	}
	// Within a namespace the base is known to hold.
	inBase := m.Base.Kind != selection.ByValue
	prefix := start
	first := true
	s.tree.Ascend(max(start, after), func(key string, o *Object) bool {
		if first { // only the first key can be the one before
			first = false
			if key == after {
				return true
			}
		}
		switch {
		case !m.GoesOn(), scoped && !strings.HasPrefix(key, prefix):
			return false
		case inBase && !m.Filter.Match(o) || !inBase && !m.Match(o):
			return true
		}
		return f(o)
	})
}
