package scheduler

import (
	"time"

	"fairlead.dev/trace"
)

// resting is the state of a scheduler whose loop waits for an event.
type resting struct {
	assumed, waiting int
	// wake is when the loop goes on without an event; zero if it does not.
	wake time.Time
}

// rests records that the loop begins to wait until wake, which is zero without such a time.
func (s *loop) rests(wake time.Time) {
	s.resting.Store(&resting{assumed: len(s.assumed) + s.asking.pods(), waiting: s.queue.Waiting(), wake: wake})
}

// state returns the state of the scheduler's queue and of its writes, for the trace.
func (s *loop) state() trace.Queue {
	r := s.resting.Load()
	if r == nil {
		return trace.Queue{Working: 1}
	}
	reports := s.reports.queue.Stats()
	q := trace.Queue{Depth: reports.Depth, Working: r.assumed + reports.Working, Delayed: r.waiting}
	if !r.wake.IsZero() {
		q.Next = time.Until(r.wake)
	}
	if reports.Delayed > 0 && (r.wake.IsZero() || reports.Next < q.Next) {
		q.Delayed, q.Next = q.Delayed+reports.Delayed, reports.Next
	}
	return q
}
