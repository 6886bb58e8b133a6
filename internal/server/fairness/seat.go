package fairness

import (
	"sync/atomic"
	"time"

	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/request"
)

// Seat is the place of a request at its level. A nil Seat is that of a request that has none.
type Seat struct {
	level  *level
	series *series
	// queue is nil at a level without queues.
	queue *queue
	width Width
	// work is the seat-seconds that the request is expected to take, and arrived the virtual time at which it came.
	work, arrived    float64
	arrival, started time.Time
	// ready is closed when a request that waits gets its seats.
	ready chan struct{}
	watch bool
	// kind is the request's kind in traffic.
	kind    int
	traffic *traffic
	left    atomic.Bool
	// prev and next are those in the queue, or among the requests that run.
	prev, next *Seat

	// user, info and flow are shown in dumps.
	user *auth.User
	info *request.Info
	flow string
}

// Leave gives the seats back. Further calls have no effect.
func (s *Seat) Leave() {
	if s != nil && !s.left.Swap(true) {
		s.traffic.add(executingPhase, s.kind, -1)
		s.level.leave(s)
	}
}

// Refusal is the error of a request that gets no seat.
type Refusal struct {
	// RetryAfter is when the client may ask again, in seconds.
	RetryAfter int64
}

func (*Refusal) Error() string { return "Too many requests, please try again later." }
