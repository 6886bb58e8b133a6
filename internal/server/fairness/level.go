package fairness

import (
	"context"
	"math"
	"sync"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
)

// level is a priority level: its seats, and the queues of the requests that wait for one.
type level struct {
	name   string
	exempt bool
	// drained is called, without a lock, when a level that is no longer configured has become idle.
	drained func()

	mu struct {
		sync.Mutex
		levelState
	}
}

// levelState is what the level's lock guards.
type levelState struct {
	name   string
	object *flowcontrolv1.PriorityLevelConfiguration
	// quiescing: it is no longer configured, and goes when it is idle.
	quiescing bool
	// nominal, least and most are the limits that the configuration gives; limit is the present one, in seats.
	nominal, least, most, limit int
	exempt                      bool
	// deck is the number of configured queues, 0 for a level without, which refuses what it has no seat for. There are more
	// queues while the last ones drain. hand is the size of a flow's hand, and length that of the longest queue.
	deck, hand, length int
	// queues are nil until they are used, since a process may host many control planes.
	queues []*queue
	// busy are the queues in which requests wait; active is the number of queues with requests.
	busy   []*queue
	active int
	// robin is the index of the queue of the last dispatch: among queues that would finish at the same time, the next one
	// after it goes first.
	robin int
	// dealt counts the hands, of which each begins with another card.
	dealt int

	// virtual is the virtual time, in seat-seconds of one queue, at the time clock.
	virtual float64
	clock   time.Time

	waiting, waitingSeats int
	executing, seats      int
	// running are the requests that execute; the first of a list.
	running *Seat

	appetite appetite
	demand   demand
	refusals refusals
	counters
}

// newLevel returns a level without seats.
func newLevel(name string, exempt bool, t time.Time, drained func()) *level {
	l := &level{name: name, exempt: exempt, drained: drained}
	l.mu.name, l.mu.exempt, l.mu.clock = name, exempt, t
	l.mu.demand.since, l.mu.demand.begin = t, t
	l.mu.counters = newCounters(t)
	return l
}

// advance moves the virtual time on to t: by the seats in use or asked for, divided among the queues that have requests. It
// precedes each change.
func (l *levelState) advance(t time.Time) {
	if dt := t.Sub(l.clock); dt > 0 {
		if l.active > 0 {
			l.virtual += float64(min(l.seats+l.waitingSeats, l.limit)) / float64(l.active) * dt.Seconds()
		}
		l.clock = t
	}
}

// fits reports whether the level has seats for a request of a width. One that is wider than the whole level runs alone.
func (l *levelState) fits(width int) bool {
	return l.exempt || l.seats+width <= l.limit || width > l.limit && l.executing == 0
}

// entry is how a request asks for seats: the FlowSchema's name, the hash of its flow, the number of watchers of a write
// (less than 0 for others), and how long it may wait.
type entry struct {
	schema   string
	hash     uint64
	watchers int
	patience time.Duration
}

// enter takes seats, waits for them, or fails.
func (l *level) enter(ctx context.Context, s *Seat, e entry) error {
	l.mu.Lock()
	t := s.arrival
	l.mu.advance(t)
	s.series = l.mu.of(e.schema)
	s.series.estimated(s.width, e.watchers)
	err := l.mu.admit(s, e.hash)
	wait := err == nil && s.queue != nil && s.started.IsZero()
	if wait {
		s.ready = make(chan struct{})
	}
	l.mu.Unlock()
	if !wait {
		return err
	}
	s.traffic.add(waitingPhase, s.kind, 1)
	defer s.traffic.add(waitingPhase, s.kind, -1)
	timer := time.NewTimer(e.patience)
	defer timer.Stop()
	select {
	case <-s.ready:
		return nil
	case <-timer.C:
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t = time.Now()
	l.mu.advance(t)
	return l.mu.giveUp(t, s)
}

// admit starts the request, lets it wait in a queue, or refuses it.
func (l *levelState) admit(s *Seat, hash uint64) error {
	t := s.arrival
	if l.deck == 0 {
		if !l.fits(s.width.max()) {
			return l.refuse(t, s, concurrencyLimit)
		}
		l.start(t, s)
		l.measure(t)
		return nil
	}
	q := l.choose(hash)
	if l.seats >= l.limit && q.waiting >= l.length {
		return l.refuse(t, s, queueFull)
	}
	s.queue, s.arrived = q, l.virtual
	s.work = float64(s.width.Initial)*guess.Seconds() + float64(s.width.Final)*s.width.Linger.Seconds()
	if q.idle() {
		q.start = l.virtual
		l.active++
	}
	q.push(s)
	if q.waiting == 1 {
		q.position, l.busy = len(l.busy), append(l.busy, q)
	}
	q.bound()
	l.waiting++
	l.waitingSeats += s.width.max()
	s.series.enqueued(s.width.max(), q.waiting)
	l.measure(t)
	l.dispatch(t)
	return nil
}

// choose picks the queue of the hand with the least work that waits.
func (l *levelState) choose(hash uint64) (best *queue) {
	var room [maxHand]int
	hand := deal(hash, l.deck, l.hand, room[:0])
	first := l.dealt % len(hand)
	l.dealt++
	for i := range hand {
		at := hand[(first+i)%len(hand)]
		q := l.queues[at]
		if q == nil {
			q = &queue{index: at}
			l.queues[at] = q
		}
		if best == nil || q.work < best.work {
			best = q
		}
		if q.work == 0 { // none has less
			break
		}
	}
	return best
}

// dispatch starts requests from the queues as long as there are seats, and then those of underserved queues.
func (l *levelState) dispatch(t time.Time) {
	for l.waiting > 0 {
		var q *queue
		if l.seats < l.limit {
			if q = l.next(); !l.fits(q.first.width.max()) {
				q.first.series.noAccommodation++
				q = nil
			}
		}
		if q == nil {
			if q = l.underserved(); q == nil {
				return
			}
		}
		s := q.first
		if s.width.Final > l.limit { // the same work on fewer seats
			s.width.Linger = time.Duration(float64(s.width.Final) / float64(l.limit) * float64(s.width.Linger))
			l.narrow(q, s)
		}
		l.robin = q.index
		l.leaveQueue(s)
		l.start(t, s)
		q.start += s.work
		q.bound()
		l.measure(t)
		if s.ready != nil {
			close(s.ready)
		}
	}
}

// narrow reduces the seats of a waiting request to the limit.
func (l *levelState) narrow(q *queue, s *Seat) {
	was := s.width.max()
	q.add(s, -1)
	s.width.Final = l.limit
	q.add(s, 1)
	l.waitingSeats += s.width.max() - was
	s.series.waitingSeats += s.width.max() - was
}

// next returns the queue whose first request would finish first.
func (l *levelState) next() (best *queue) {
	n := len(l.queues)
	distance := func(q *queue) int { return (q.index - l.robin - 1 + n) % n }
	b := bounds{start: [2]float64{math.Inf(1), math.Inf(-1)}, discounted: [2]float64{math.Inf(1), math.Inf(-1)}}
	for _, q := range l.busy {
		b.note(q.start, q.start-float64(q.seats)*guess.Seconds())
		if best == nil || q.finish() < best.finish() || q.finish() == best.finish() && distance(q) < distance(best) {
			best = q
		}
	}
	b.known, b.virtual, b.latest = true, l.virtual, best.start
	l.bounds = b
	return best
}

// overdraft is the part of a level's limit, one in so many seats, by which underserved queues may exceed it.
const overdraft = 16

// underserved returns, among the queues that would stay within an even share of the level's seats with one more request, the
// one whose request would finish first; nil if there is none, or if the level's overdraft is used up. kube-apiserver has no
// overdraft: there a small request waits until one of the large ones of another flow ends, which takes long when their
// clients read slowly.
func (l *levelState) underserved() (best *queue) {
	for _, q := range l.busy {
		width := q.first.width.max()
		switch {
		case l.seats+width > l.limit+l.limit/overdraft || (q.seats+width)*l.active > l.limit:
		case best == nil || q.finish() < best.finish():
			best = q
		}
	}
	return best
}

// leaveQueue takes a waiting request out of its queue.
func (l *levelState) leaveQueue(s *Seat) {
	q := s.queue
	q.remove(s)
	if q.waiting == 0 {
		last := l.busy[len(l.busy)-1]
		l.busy[q.position], last.position = last, q.position
		l.busy = l.busy[:len(l.busy)-1]
	}
	l.waiting--
	l.waitingSeats -= s.width.max()
	s.series.dequeued(s.width.max())
}

// start gives a request its seats.
func (l *levelState) start(t time.Time, s *Seat) {
	s.started = t
	l.executing++
	l.seats += s.width.max()
	if q := s.queue; q != nil {
		q.executing++
		q.seats += s.width.max()
	}
	if s.next = l.running; s.next != nil {
		s.next.prev = s
	}
	l.running = s
	s.series.dispatchedOne(s.width.max())
	if !l.exempt {
		s.series.waited[executed].observe(durationBounds, t.Sub(s.arrival).Seconds())
	}
}

// refuse counts a refusal.
func (l *levelState) refuse(t time.Time, s *Seat, why int) error {
	s.series.rejected[why]++
	l.rejected++
	s.series.waited[refusedAfter].observe(durationBounds, t.Sub(s.arrival).Seconds())
	return &Refusal{RetryAfter: l.refusals.note(t)}
}

// giveUp takes a request that has waited too long out of its queue, unless it has got its seats meanwhile.
func (l *levelState) giveUp(t time.Time, s *Seat) error {
	if !s.started.IsZero() {
		return nil
	}
	q := s.queue
	l.leaveQueue(s)
	q.bound()
	if q.idle() {
		l.active--
		l.shrink()
	}
	l.cancelled++
	l.measure(t)
	err := l.refuse(t, s, timeOut)
	l.dispatch(t) // a narrower request may be the next now
	return err
}

// leave ends a request. Its seats are free at once, or after its linger.
func (l *level) leave(s *Seat) {
	t := time.Now()
	l.mu.Lock()
	l.mu.advance(t)
	l.mu.finish(t, s)
	if s.width.Linger <= 0 {
		l.mu.release(t, s)
		l.mu.dispatch(t)
	} else {
		time.AfterFunc(s.width.Linger, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			t := time.Now()
			l.mu.advance(t)
			l.mu.release(t, s)
			l.mu.dispatch(t)
		})
	}
	l.mu.measure(t)
	drained := l.mu.quiescing && l.mu.idle()
	l.mu.Unlock()
	if drained {
		l.drained()
	}
}

// finish counts the end of a request, and corrects the start of its queue by the time that it took.
func (l *levelState) finish(t time.Time, s *Seat) {
	l.executing--
	if s.prev != nil {
		s.prev.next = s.next
	} else {
		l.running = s.next
	}
	if s.next != nil {
		s.next.prev = s.prev
	}
	s.prev, s.next = nil, nil
	took := t.Sub(s.started)
	s.series.finished(took, s.watch)
	if q := s.queue; q != nil {
		q.executing--
		q.start -= float64(s.width.Initial) * (guess - took).Seconds()
		q.bound()
		if q.idle() {
			l.active--
		}
	}
}

// release frees the seats of a request that has ended.
func (l *levelState) release(t time.Time, s *Seat) {
	l.seats -= s.width.max()
	s.series.seats -= s.width.max()
	if s.queue != nil {
		s.queue.seats -= s.width.max()
		l.shrink()
	}
	l.measure(t)
}

// shrink drops queues that are no longer configured and have no requests, from the last on.
func (l *levelState) shrink() {
	for n := len(l.queues); n > l.deck && l.queues[n-1].unused(); n = len(l.queues) {
		l.queues = l.queues[:n-1]
		l.robin = min(l.robin, max(0, n-2))
	}
}

// idle reports whether the level has no requests.
func (l *levelState) idle() bool { return l.waiting == 0 && l.executing == 0 }

// measure notes the seats that the level could use.
func (l *levelState) measure(t time.Time) {
	seats := float64(l.seats + l.waitingSeats)
	l.demand.set(t, seats)
	l.observe(t, seats, float64(l.seats), float64(l.executing), float64(l.waiting))
}
