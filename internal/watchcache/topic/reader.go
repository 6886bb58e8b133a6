package topic

import (
	"errors"

	"fairlead.dev/internal/watchcache/bell"
	"fairlead.dev/internal/watchcache/change"
	"fairlead.dev/storage"
)

// A Reader is a position in the log of a topic and a bell. Its bell may be rung and attached to
// without a lock.
type Reader struct {
	topic *Topic
	seat  seat
	// pos is the next event in the topic's log.
	pos uint64
}

// ErrBehind is the error of a reader whose next event has left the kept history.
var ErrBehind = errors.New("the reader is behind the kept history")

// Enter puts a reader at the end of the log of a topic of the set.
func (s *Set) Enter(r *Reader, t *Topic) {
	r.topic, r.pos = t, t.log.End()
	t.bells.add(&r.seat)
	s.readers++
}

// Leave takes the reader out of its topic. It reports whether the reader had not left before.
func (s *Set) Leave(r *Reader) bool {
	t := r.topic
	if r.seat.slot < 0 {
		return false
	}
	t.bells.remove(&r.seat)
	s.readers--
	// A topic without a filter adds no cost to writes; it stays while its log can serve a reader
	// that comes back.
	if len(t.bells.list) == 0 && !t.gone && (t.filter != nil || len(t.log.Items()) == 0) {
		s.remove(t)
	}
	return true
}

// Bell returns the reader's bell.
func (r *Reader) Bell() *bell.Bell { return &r.seat.bell }

// Seek moves the reader to the first event after a revision, and rings if there is one. It reports
// false if the log does not reach back to the revision.
func (r *Reader) Seek(after storage.Revision) bool {
	t := r.topic
	if after < t.since {
		return false
	}
	if r.pos = t.seek(after); r.pos < t.log.End() {
		r.seat.bell.Ring()
	}
	return true
}

// Advance moves the reader by n events.
func (r *Reader) Advance(n int) { r.pos += uint64(n) }

// Pending returns the events that the reader has not passed, with the error that follows them if the
// topic has ended. Errors without events: storage.ErrClosed if the reader has left, ErrBehind, the
// end of the topic.
func (r *Reader) Pending() ([]change.Event, error) {
	t := r.topic
	switch {
	case r.seat.slot < 0:
		return nil, storage.ErrClosed
	case t.err != nil && (r.pos < t.log.First() || r.pos >= t.log.End()):
		return nil, t.err
	case t.err != nil:
		return t.log.View(r.pos), t.err
	case r.pos < t.log.First():
		return nil, ErrBehind
	}
	return t.log.View(r.pos), nil
}

// Err returns why the reader gets no more events: it has left, or the topic has ended.
func (r *Reader) Err() error {
	if r.topic.err != nil {
		return r.topic.err
	}
	if r.seat.slot < 0 {
		return storage.ErrClosed
	}
	return nil
}

// After returns the logged events after a revision, nil if the reader has left.
func (r *Reader) After(rev storage.Revision) []change.Event {
	if r.seat.slot < 0 {
		return nil
	}
	return r.topic.log.View(r.topic.seek(rev))
}
