package watchcache

import "iter"

// A Walk is a list that can be interrupted and resumed: a place in a snapshot, not a goroutine. It
// belongs to one goroutine at a time; a copy is another walk from the same place.
type Walk struct {
	snap    *Snapshot
	matcher matcher
	after   string
	begun   bool
	ended   bool
	// ahead are the next objects, from next to end.
	ahead     [16]*Object
	next, end int
	touched   byte
}

// EndWhen ends the walk when f returns true. f is called after every few hundred examined objects,
// including those outside the selection.
func (w *Walk) EndWhen(f func() bool) { w.matcher.ends = f }

// Stopped reports whether the walk has ended by EndWhen, before its last object.
func (w *Walk) Stopped() bool { return w.matcher.stopped }

// Walk begins a list of a selection, after a key ("" for the beginning). It fails as List does.
func (s *Snapshot) Walk(sel Selection, after string) (Walk, error) {
	m := s.cache.compile(sel)
	if err := s.cache.unreadableIn(&m, s.unreadable, after); err != nil {
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
	w.touch(w.ahead[:w.end])
	w.after = w.ahead[w.end-1].Key()
	return true
}

// touch reads a byte of the memory that the next reader needs from each object. From the tree to an
// object's bytes there are four pointers, each to a place that is in no cache of the processor in a
// large list, so each costs a wait. Taken for many objects at once, level by level, their waits
// overlap.
func (w *Walk) touch(objects []*Object) {
	var bodies [len(w.ahead)]*body
	var values [len(w.ahead)][]byte
	for i, o := range objects {
		bodies[i] = o.body.Load()
	}
	for i := range objects {
		values[i] = bodies[i].kv.Value
	}
	for i, o := range objects {
		// Another encoding, if there is one, is likely to be the one that is read.
		if v := values[i]; o.encodings.Load() == nil && len(v) > 0 {
			w.touched ^= v[0]
		}
	}
}
