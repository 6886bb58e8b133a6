package fairness

// Ticking reports whether the timer of the next adjustment is set.
func (d *Dispatcher) Ticking() bool { return d.ticking.Load() }
