package watchcache

import (
	"iter"

	"fairlead.dev/internal/watchcache/object"
	"fairlead.dev/internal/watchcache/selection"
)

// A Walk is a list that can be interrupted and resumed: a place in a snapshot, not a goroutine. It
// belongs to one goroutine at a time; a copy is another walk from the same place.
type Walk struct {
	snap    *Snapshot
	matcher selection.Matcher
	after   string
	begun   bool
	ended   bool
	// ahead are the next objects, from next to end.
	ahead     [object.MaxTouched]*Object
	next, end int
	touched   byte
}

// EndWhen ends the walk when f returns true. f is called after every few hundred examined objects,
// including those outside the selection.
func (w *Walk) EndWhen(f func() bool) { w.matcher.Ends = f }

// Stopped reports whether the walk has ended by EndWhen, before its last object.
func (w *Walk) Stopped() bool { return w.matcher.Stopped }

// Walk begins a list of a selection, after a key ("" for the beginning). It fails as List does.
func (s *Snapshot) Walk(sel Selection, after string) (Walk, error) {
	m := s.resource.compile(sel)
	if err := s.resource.rangeError(&m, s.unreadable, after); err != nil {
		return Walk{}, err
	}
	return Walk{snap: s, matcher: m, after: after}, nil
}

// Next returns the next object, nil after the last one.
func (w *Walk) Next() *Object {
	if w.next == w.end && !w.fill() {
		return nil
	}
	w.next++
	return w.ahead[w.next-1]
}

// Rest yields the objects that Next has not returned yet. An object counts as returned once it is
// yielded, even if the loop ends there.
func (w *Walk) Rest() iter.Seq[*Object] {
	return func(yield func(*Object) bool) {
		for o := w.Next(); o != nil && yield(o); o = w.Next() {
		}
	}
}

// fill finds the next objects.
func (w *Walk) fill() bool {
	w.next, w.end = 0, 0
	if w.ended {
		return false
	}
	w.snap.walk(&w.matcher, w.after, !w.begun, func(o *Object) bool {
		w.ahead[w.end] = o
		w.end++
		return w.end < len(w.ahead)
	})
	w.begun, w.ended = true, w.end < len(w.ahead)
	if w.end == 0 {
		return false
	}
	w.touched ^= object.Touch(w.ahead[:w.end])
	w.after = w.ahead[w.end-1].Key()
	return true
}
