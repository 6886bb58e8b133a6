package fairness

import "time"

// counters are the figures of a level. The level's lock guards them and the series.
type counters struct {
	series     map[string]*series // by FlowSchema
	rejected   int
	dispatched int
	cancelled  int
	bounds     bounds

	// denominator is the limit that fractions refer to, and capacity that of all queues.
	denominator, capacity              float64
	demands, utilization, runs, queued ratio
}

func newCounters(t time.Time) counters {
	return counters{
		series: map[string]*series{}, denominator: 1, capacity: 1,
		demands: newRatio(demandBounds, t), utilization: newRatio(seatBounds, t), runs: newRatio(requestBounds, t), queued: newRatio(requestBounds, t),
	}
}

// observe notes the state of the level from t on.
func (c *counters) observe(t time.Time, demand, seats, executing, waiting float64) {
	c.demands.set(t, demand, c.denominator)
	c.utilization.set(t, seats, c.denominator)
	c.runs.set(t, executing, c.denominator)
	c.queued.set(t, waiting, c.capacity)
}

// of returns the series of a FlowSchema.
func (c *counters) of(schema string) *series {
	s := c.series[schema]
	if s == nil {
		s = &series{total: &c.dispatched}
		c.series[schema] = s
	}
	return s
}

// Reasons for refusals.
const (
	concurrencyLimit = iota
	queueFull
	timeOut
	reasons
)

var reasonNames = [reasons]string{"concurrency-limit", "queue-full", "time-out"}

// Ends of a wait.
const (
	refusedAfter = iota
	executed
	ends
)

var endNames = [ends]string{"false", "true"}

// series are the figures of a FlowSchema at a level.
type series struct {
	total                 *int // requests dispatched at the level
	rejected              [reasons]int
	dispatched            int
	waiting, waitingSeats int
	executing, seats      int
	noAccommodation       int

	lengths, watchers, widths histogram
	waited                    [ends]histogram
	ran, watched              histogram
}

// estimated notes the width of a request; watchers is that of a write, else less than 0.
func (s *series) estimated(w Width, watchers int) {
	s.widths.observe(widthBounds, float64(w.max()))
	if watchers >= 0 {
		s.watchers.observe(watcherBounds, float64(watchers))
	}
}

func (s *series) enqueued(width, length int) {
	s.waiting++
	s.waitingSeats += width
	s.lengths.observe(lengthBounds, float64(length))
}

func (s *series) dequeued(width int) {
	s.waiting--
	s.waitingSeats -= width
}

func (s *series) dispatchedOne(width int) {
	s.dispatched++
	*s.total++
	s.executing++
	s.seats += width
}

func (s *series) finished(took time.Duration, watch bool) {
	s.executing--
	if watch {
		s.watched.observe(durationBounds, took.Seconds())
	} else {
		s.ran.observe(durationBounds, took.Seconds())
	}
}

// bounds describe the queues at the last dispatch, in virtual time: the least and greatest start of the queues in which
// requests wait, also less the work in progress.
type bounds struct {
	known             bool // a request was dispatched
	virtual, latest   float64
	start, discounted [2]float64
}

func (b *bounds) note(start, discounted float64) {
	b.start = [2]float64{min(b.start[0], start), max(b.start[1], start)}
	b.discounted = [2]float64{min(b.discounted[0], discounted), max(b.discounted[1], discounted)}
}
