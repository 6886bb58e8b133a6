package watch

import (
	"time"

	"fairlead.dev/internal/server/faults"
	"fairlead.dev/storage"
	"fairlead.dev/trace"
)

// Wake rings for all streams.
func (s *Streams) Wake() { s.wake(func(*Stream) bool { return true }) }

// WakeHeld rings for the streams whose events wait for definitions to settle.
func (s *Streams) WakeHeld() {
	s.wake(func(st *Stream) bool { return st.fence != nil && st.fence.Held() })
}

// WakeRetired rings for the streams whose kind has another definition.
func (s *Streams) WakeRetired() {
	s.wake(func(st *Stream) bool { return st.rep.Endpoint.Retired.Load() })
}

// wake rings for the streams that are meant.
func (s *Streams) wake(meant func(*Stream) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for st := range s.mu.open {
		if st.from != nil && meant(st) {
			st.from.Ring()
		}
	}
}

// Drop cuts off the streams that are meant by a fault, and returns their number.
func (s *Streams) Drop(fault uint64, meant func(faults.Target) bool) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for st := range s.mu.open {
		if st.faults == nil || !meant(st.faults.Target()) {
			continue
		}
		n++
		st.faults.Drop(fault)
		st.from.Ring()
		if st.push != nil { // a write that is stuck ends
			_ = st.push.cut(time.Now())
		}
	}
	return n
}

// Dropped reports whether a fault has cut the stream off.
func (st *Stream) Dropped() bool { return st.faults != nil && st.faults.Dropped() }

// Traced yields the streams that are traced: the client of each, the last revision that it
// was sent, and the later revisions that wait, as far as they are kept in memory. The set is
// locked meanwhile.
func (s *Streams) Traced(yield func(client *trace.Stream, reached int64, waiting []storage.Revision) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for st := range s.mu.open {
		if st.trace == nil {
			continue
		}
		reached := st.trace.Reached()
		if !yield(st.trace.Client(), reached, st.from.After(storage.Revision(reached))) {
			return
		}
	}
}
