package fairness

import (
	"math"
	"time"
)

// demand measures how many seats a level could use, over the time since the last adjustment of limits.
type demand struct {
	now   float64 // seats
	since time.Time
	begin time.Time
	// sum and squares are the integrals of the demand and its square over seconds; top is its maximum.
	sum, squares, top float64
}

// set notes the demand from t on.
func (d *demand) set(t time.Time, seats float64) {
	d.integrate(t)
	d.now = seats
	d.top = max(d.top, seats)
}

func (d *demand) integrate(t time.Time) {
	dt := t.Sub(d.since).Seconds()
	d.since = t
	d.sum += d.now * dt
	d.squares += d.now * d.now * dt
}

// reset returns the figures up to t, and begins anew.
func (d *demand) reset(t time.Time) (f figures) {
	d.integrate(t)
	f.top = d.top
	if dt := t.Sub(d.begin).Seconds(); dt > 0 {
		f.elapsed, f.average = true, d.sum/dt
		f.deviation = math.Sqrt(max(0, d.squares/dt-f.average*f.average))
	}
	d.begin, d.sum, d.squares, d.top = t, 0, 0, d.now
	return f
}

// figures are those of the demand over a period.
type figures struct {
	elapsed            bool // the period has a length
	average, deviation float64
	top                float64
}

// smoothing is how much of the smoothed demand is left after a period with less: half of it after five minutes.
const smoothing = 0.977

// appetite is a level's demand as the adjustment sees it.
type appetite struct {
	figures
	// smoothed follows the demand up at once and down slowly.
	smoothed, target float64
}

func (a *appetite) update(f figures) {
	if !f.elapsed {
		a.top = f.top
		return
	}
	a.figures = f
	envelope := f.average + f.deviation
	a.smoothed = max(envelope, smoothing*a.smoothed+(1-smoothing)*envelope)
}

// idle makes up for a number of periods without demand.
func (a *appetite) idle(periods float64) { a.smoothed *= math.Pow(smoothing, periods) }
