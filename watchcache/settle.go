package watchcache

import (
	"sort"
	"time"

	"fairlead.dev/internal/watchcache/change"
	"fairlead.dev/internal/watchcache/object"
)

const (
	// settleAfter is how long an object stays whole after a change, and maxUnsettled how many of the newest changes
	// leave their objects whole: they are likely to change again soon.
	settleAfter  = 10 * time.Second
	maxUnsettled = 8 << 10
	// settleStep is how many changes or objects are examined in one go, between events.
	settleStep = 64
)

// settling packs the objects of a state that have not changed for a while, see object.PackSibling.
type settling struct {
	packing packing // used by the goroutine of Hub.Run only
	settled settled // guarded by state.mu
}

// settled is how far objects were examined.
type settled struct {
	// next is the number of the first change whose object was not.
	next uint64
	// missed: the history has dropped changes whose objects were not.
	missed bool
	// scanning: the objects whose changes are no longer in the history are examined before the next change, and are not
	// yet from the key from on.
	scanning bool
	from     string
}

// rescan begins to examine the objects again whose changes the history has dropped, if it must; mu is held.
func (s *state) rescan() {
	at := &s.settling.settled
	if (at.missed || at.next < s.mu.history.First()) && !at.scanning {
		*at = settled{next: max(at.next, s.mu.history.First()), scanning: true}
	}
}

// unsettled reports whether there are objects to examine; mu is held.
func (s *state) unsettled(now int64) bool {
	at := &s.settling.settled
	return at.scanning || len(s.oldChanges(at.next, now)) > 0
}

// oldChanges returns the next changes that are old enough, settleStep at most; mu is held.
func (s *state) oldChanges(next uint64, now int64) []change.Change {
	h := &s.mu.history
	all := h.View(max(next, h.First()))
	old := all[:min(len(all), settleStep)]
	if n := len(old); n > 0 && old[n-1].At > now-int64(settleAfter) && len(all) < maxUnsettled+settleStep {
		n = sort.Search(n, func(i int) bool { return old[i].At > now-int64(settleAfter) })
		return old[:n]
	}
	return old
}

// settle examines some objects, and reports whether there are more.
func (s *state) settle(now int64) (more bool) {
	s.mu.RLock()
	before := s.settling.settled
	objects, after := s.nextSettled(before, now)
	s.mu.RUnlock()
	packed := make([]*object.Packed, len(objects))
	for i, o := range objects {
		packed[i] = s.settling.packing.pack(o, s.resource.kind)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, o := range objects {
		if packed[i] != nil && s.current(o) {
			object.SetPacked(o, packed[i])
		}
	}
	if s.settling.settled == before { // not reset meanwhile
		s.settling.settled = after
	}
	return s.unsettled(now)
}

// nextSettled returns the next objects to examine, and how far they reach; mu is held for reading.
func (s *state) nextSettled(at settled, now int64) ([]*Object, settled) {
	objects := make([]*Object, 0, settleStep)
	if !at.scanning {
		old := s.oldChanges(at.next, now)
		for i := range old {
			if o := old[i].New; o != nil && s.current(o) {
				objects = append(objects, o)
			}
		}
		first := s.mu.history.First()
		at.missed = at.missed || at.next < first
		at.next = max(at.next, first) + uint64(len(old))
		return objects, at
	}
	at.scanning = false
	n := 0
	s.mu.tree.Ascend(at.from, func(key string, o *Object) bool {
		if n == settleStep {
			at.scanning, at.from = true, key
			return false
		}
		n++
		if rev := o.Revision(); rev > s.mu.history.Shared() && rev <= s.mu.history.Floor() {
			objects = append(objects, o)
		}
		return true
	})
	return objects, at
}

// current reports whether the object is the state of its key, and of this cache alone; mu is held. A history counts the
// size of other states.
func (s *state) current(o *Object) bool {
	now, _ := s.mu.tree.Get(o.Key())
	return now == o && o.Revision() > s.mu.history.Shared()
}
