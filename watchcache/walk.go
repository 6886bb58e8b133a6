package watchcache

import "iter"

// Walk is a list that may be broken off and gone on with: a place in a snapshot, not
// a goroutine. It belongs to one goroutine at a time; a copy is another walk from the
// same place.
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

// EndWhen has the walk end when f says so, which it is asked after some objects each time,
// also if none of them are of the selection.
func (w *Walk) EndWhen(f func() bool) { w.matcher.ends = f }

// Stopped reports whether the walk has ended by EndWhen, before its last object.
func (w *Walk) Stopped() bool { return w.matcher.stopped }

// Walk begins a list of a selection, after a key ("" for the beginning). It fails as
// List does.
func (s *Snapshot) Walk(sel Selection, after string) (Walk, error) {
	m := s.cache.compile(sel)
	if err := s.cache.unreadableIn(&m, s.unreadable, after); err != nil {
		return Walk{}, err
	}
	return Walk{snap: s, matcher: m, after: after}, nil
}

// Next is the next object, nil behind the last one.
func (w *Walk) Next() *Object {
	if w.next == w.end && !w.fill() {
		return nil
	}
	w.next++
	return w.ahead[w.next-1]
}

// Rest yields what Next has not returned yet. An object that was yielded counts, also if
// the loop was left with it.
func (w *Walk) Rest() iter.Seq[*Object] {
	return func(yield func(*Object) bool) {
		for o := w.Next(); o != nil && yield(o); o = w.Next() {
		}
	}
}

// fill finds the objects that come next.
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

// touch reads a byte of what the objects will be asked for. From the tree to an
// object's bytes it is four steps, each to a place that is in no cache of the
// processor in a large list, and the processor waits at each. Taken for many objects
// at once, a step after the other, their waits are one.
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
		// If it has another form, that is likely to be what is wanted.
		if v := values[i]; o.forms.Load() == nil && len(v) > 0 {
			w.touched ^= v[0]
		}
	}
}
