package fairness

// queue has the requests of a level that wait for a seat, in the order of their arrival. The level's lock guards it.
type queue struct {
	index       int
	first, last *Seat
	waiting     int
	executing   int
	seats       int // of requests that execute or linger
	// start is the virtual time at which the next request is dispatched, in seat-seconds.
	start float64
	// initialSeats, widths and work are sums over the waiting requests.
	initialSeats, widths int
	work                 float64
	// position is the queue's place in level.busy, if requests wait.
	position int
}

// idle reports whether the queue has no requests. Its start then means nothing.
func (q *queue) idle() bool { return q.waiting == 0 && q.executing == 0 }

// unused reports whether the queue has no requests and no seats. A nil queue is one that was never used.
func (q *queue) unused() bool { return q == nil || q.idle() && q.seats == 0 }

func (q *queue) push(s *Seat) {
	if s.prev = q.last; s.prev != nil {
		s.prev.next = s
	} else {
		q.first = s
	}
	q.last = s
	q.add(s, 1)
}

func (q *queue) remove(s *Seat) {
	if s.prev != nil {
		s.prev.next = s.next
	} else {
		q.first = s.next
	}
	if s.next != nil {
		s.next.prev = s.prev
	} else {
		q.last = s.prev
	}
	s.prev, s.next = nil, nil
	q.add(s, -1)
	if q.waiting == 0 {
		q.work = 0 // without what rounding has left
	}
}

func (q *queue) add(s *Seat, sign int) {
	q.waiting += sign
	q.initialSeats += sign * s.width.Initial
	q.widths += sign * s.width.max()
	q.work += float64(sign) * s.work
}

// bound keeps the first request from being dispatched, in virtual time, before it arrived: a queue that uses less than its
// share saves nothing up.
func (q *queue) bound() {
	if q.first != nil {
		q.start = max(q.start, q.first.arrived)
	}
}

// finish is the virtual time at which the first request would finish.
func (q *queue) finish() float64 { return q.start + q.first.work }
