package fairness

import (
	"math"
	"time"
)

// period is the time between two adjustments of limits.
const period = 10 * time.Second

// wake sets the timer of the next adjustment, and makes up for the periods without requests.
func (d *Dispatcher) wake(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ticking.Load() {
		return
	}
	d.catchUp(t)
	d.ticking.Store(true)
	time.AfterFunc(period, d.tick)
}

// catchUp adjusts the limits for the periods in which no timer was set; mu is held.
func (d *Dispatcher) catchUp(t time.Time) {
	missed := math.Floor(float64(t.Sub(d.mu.adjusted)) / float64(period))
	if missed < 1 || d.ticking.Load() {
		return
	}
	levels := d.plan.Load().levels
	for _, l := range levels {
		l.mu.Lock()
		l.mu.appetite.idle(missed - 1)
		l.mu.Unlock()
	}
	d.adjust(t, levels)
}

// tick adjusts the limits at the end of a period. After one without requests the timer is not set again.
func (d *Dispatcher) tick() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.adjust(time.Now(), d.plan.Load().levels)
	if d.mu.quiet {
		d.ticking.Store(false)
		return
	}
	time.AfterFunc(period, d.tick)
}

// adjust sets the limits of levels by their demand since the last time; mu is held. A level gets at least what it has needed
// at once, up to its nominal limit, and what it does not lend. The exempt level takes what it needs. The rest goes to the
// levels in proportion to their smoothed demands, as far as they may borrow.
func (d *Dispatcher) adjust(t time.Time, levels map[string]*level) {
	d.mu.adjusted, d.mu.quiet = t, true
	var limited []*level
	var claims []claim
	rest := float64(d.mu.nominal)
	least, low := 0.0, 0.0 // sums over the limited levels
	for _, l := range levels {
		l.mu.Lock()
		l.mu.advance(t)
		f := l.mu.demand.reset(t)
		l.mu.appetite.update(f)
		a, top := &l.mu.appetite, int(math.Round(f.top))
		d.mu.quiet = d.mu.quiet && f.top == 0
		if l.exempt {
			n := max(l.mu.least, top)
			rest -= float64(n)
			a.target = max(float64(n), a.smoothed)
			l.mu.setLimit(t, n, d.o.Seats)
		} else {
			n := float64(max(l.mu.least, min(l.mu.nominal, top)))
			a.target = max(n, a.smoothed)
			limited = append(limited, l)
			claims = append(claims, claim{a.target, n, float64(l.mu.most)})
			least += float64(l.mu.least)
			low += n
		}
		l.mu.Unlock()
	}
	// parts stays nil if the bounds leave no solution; limits then stay as they are.
	var parts []float64
	share := -1.0
	switch d.mu.fair = 0; {
	case rest <= least:
		share = 0
	case rest <= low:
		share = (rest - least) / (low - least)
	default:
		parts, d.mu.fair, _ = allocate(float64(d.mu.nominal), claims)
	}
	for i, l := range limited {
		l.mu.Lock()
		n := l.mu.limit
		switch {
		case share >= 0:
			n = l.mu.least + int(math.Round(share*(claims[i].low-float64(l.mu.least))))
		case parts != nil:
			n = int(math.Round(parts[i]))
		}
		l.mu.setLimit(t, n, d.o.Seats)
		l.mu.Unlock()
	}
}

// setLimit sets the level's seats and starts the requests that have one now.
func (l *levelState) setLimit(t time.Time, seats, server int) {
	l.advance(t)
	l.limit = seats
	l.denominator = float64(seats)
	if seats == 0 {
		l.denominator = max(1, math.Round(float64(server)/10))
	}
	l.measure(t)
	l.dispatch(t)
}
